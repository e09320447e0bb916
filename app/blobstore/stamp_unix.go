//go:build !windows

package blobstore

import (
	"os"
	"syscall"
)

// fileStampOf returns the stamp of an open file. On Unix, the change time reveals every
// write, even if the modification time was set back.
func fileStampOf(f *os.File) (fileStamp, error) {
	info, err := f.Stat()
	if err != nil {
		return fileStamp{}, err
	}
	at := fileStamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	if raw, ok := info.Sys().(*syscall.Stat_t); ok {
		at.device, at.file, at.changed = uint64(raw.Dev), raw.Ino, changeTime(raw) //nolint:unconvert // Dev is signed on macOS
	}
	return at, nil
}
