//go:build !linux

package txn

import (
	"errors"
	"os"
)

// allocate always fails, because other operating systems have no call that reserves blocks
// on every file system. The caller writes the blocks instead.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
