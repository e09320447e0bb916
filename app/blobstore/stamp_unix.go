//go:build !windows

package blobstore

import (
	"os"
	"syscall"
)

// stampOf reads the stamp of an open file. The change time of Unix tells of every
// write, also of one that set the modification time back.
func stampOf(f *os.File) (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	at := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	if raw, ok := info.Sys().(*syscall.Stat_t); ok {
		at.device, at.file, at.changed = uint64(raw.Dev), raw.Ino, changed(raw) //nolint:unconvert // Dev is signed on macOS
	}
	return at, nil
}
