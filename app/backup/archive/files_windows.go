package archive

import (
	"errors"

	"golang.org/x/sys/windows"
)

// openNonblock is 0, because opening a file in a Windows directory never blocks.
const openNonblock = 0

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// isLockUnsupported reports whether a lock failed because the file system doesn't support
// locks, and not because another process holds it.
func isLockUnsupported(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}
