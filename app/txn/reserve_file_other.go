//go:build !linux

package txn

import (
	"errors"
	"os"
)

// allocate returns ErrUnsupported: only Linux has a portable call that reserves blocks.
// The caller writes the file instead.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
