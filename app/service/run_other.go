//go:build !windows

package service

import (
	"context"
	"io"
)

// StartedByWindows reports whether the service manager of Windows started this process.
func StartedByWindows() bool { return false }

// RunForWindows is only for Windows.
func RunForWindows(int, func(context.Context, func(), io.Writer) int) int { return 1 }
