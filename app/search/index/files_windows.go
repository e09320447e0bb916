package index

import (
	"os"

	"golang.org/x/sys/windows"
)

// Rename writes the move through to the disk, since Windows syncs no directory.
func (osFileSystem) Rename(from, to string) error {
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

// SyncDir does nothing: Rename writes through.
func (osFileSystem) SyncDir(string) error { return nil }
