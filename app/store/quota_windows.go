package store

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isQuotaExceeded knows the words Windows has for a disk without room.
func isQuotaExceeded(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
