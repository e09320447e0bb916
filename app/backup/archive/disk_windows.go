package archive

import (
	"errors"

	"golang.org/x/sys/windows"
)

// notWaiting: nothing that lies in a directory of Windows keeps an open waiting.
const notWaiting = 0

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// isNoLocks tells a file system without locks from a lock that is held.
func isNoLocks(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}
