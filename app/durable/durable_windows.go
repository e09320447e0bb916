package durable

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Rename moves a closed file and replaces the file at to. It returns after the move was
// written to the disk. A read-only file can't be replaced.
func Rename(from, to string) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	if err := windows.MoveFileEx(f, t, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// SyncDir does nothing: Windows can't sync a directory, and NTFS journals names.
func SyncDir(string) error { return nil }

// SyncDirIfSupported does nothing, like SyncDir.
func SyncDirIfSupported(string) error { return nil }

// IsDiskFull reports whether err means that the disk is full or a quota is used up.
func IsDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) ||
		errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) ||
		errors.Is(err, syscall.ENOSPC)
}
