package durable

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Rename moves a closed file to the path to and replaces any file there, unless that file
// is read-only. It returns after the move has been written to the disk.
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

// giveToOwner does nothing, because files have the access list of their directory.
func giveToOwner(*os.File, string) error { return nil }

// SyncDir does nothing, because Windows can't sync a directory. NTFS journals file names.
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
