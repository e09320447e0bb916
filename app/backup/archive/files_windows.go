package archive

import (
	"errors"

	"golang.org/x/sys/windows"
)

// openNonblock is 0: opening a file in a Windows directory never blocks.
const openNonblock = 0

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// isLockUnsupported distinguishes a file system without locks from a lock that is held.
func isLockUnsupported(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}
