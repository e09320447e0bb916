//go:build linux && !amd64 && !arm64

package sandbox

import (
	"fmt"
	"runtime"
)

// applySeccomp returns an error because there is no filter for this architecture.
func applySeccomp() error { return fmt.Errorf("no seccomp filter for %s", runtime.GOARCH) }
