//go:build !windows

package disk

import (
	"os"
	"syscall"

	"deedkeep/app/blob"
)

// stateOf returns the state of an open file. On Unix, the change time reveals every
// write, even if the modification time was set back.
func stateOf(f *os.File) (blob.State, error) {
	info, err := f.Stat()
	if err != nil {
		return blob.State{}, err
	}
	at := blob.State{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if raw, ok := info.Sys().(*syscall.Stat_t); ok {
		at.Version = [3]uint64{uint64(raw.Dev), raw.Ino, uint64(changeTime(raw))} //nolint:unconvert // Dev is signed on macOS
	}
	return at, nil
}
