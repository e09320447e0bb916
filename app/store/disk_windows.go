package store

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// initialMmap stays small here: bbolt grows the file itself to it.
const initialMmap = 16 << 20

// syncDir has no counterpart on Windows, where NTFS journals names itself.
func syncDir(string) error { return nil }

// removeDurably removes a file, if it is there.
func removeDurably(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// isQuotaExceeded knows the words Windows has for a disk without room.
func isQuotaExceeded(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
