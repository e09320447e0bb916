//go:build !windows

package vault

import (
	"errors"
	"os"
	"syscall"
)

// private makes the data directory, for its owner's eyes only.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) // #nosec G302 -- a directory needs its x bit
}

// onReadOnlyDisk reports whether a directory is on a disk that can't be written to.
func onReadOnlyDisk(dir string) bool {
	const write = 2
	return errors.Is(syscall.Access(dir, write), syscall.EROFS)
}
