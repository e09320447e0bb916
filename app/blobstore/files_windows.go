package blobstore

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// Rename writes the move through to the disk, since Windows syncs no directory.
// A read-only target refuses to be replaced until it is writable again.
func (system) Rename(from, to string) error {
	err := move(from, to)
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return held(err)
	}
	if chmodErr := os.Chmod(to, 0o600); chmodErr != nil {
		return held(err)
	}
	if err = move(from, to); err == nil {
		return nil
	}
	return held(errors.Join(err, os.Chmod(to, 0o400)))
}

func move(from, to string) error {
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

func (system) Remove(path string) error { return held(os.Remove(path)) }

// SyncDir does nothing: Windows has no such thing, Rename writes through.
func (system) SyncDir(string) error { return nil }

func held(err error) error {
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return fmt.Errorf("%w: %w", errHeld, err)
	}
	return err
}

// IsFull reports the error of a disk, or of a share of one, that has no room left.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) ||
		errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
