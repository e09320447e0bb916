//go:build !windows

package integrity

import (
	"os"
	"syscall"
)

// private makes the data directory, for its owner's eyes only.
func CreatePrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) // #nosec G302 -- a directory needs its x bit
}

// writable reports whether the disk and the permissions of a directory let this process
// write there.
func Writable(dir string) bool {
	const write = 2
	return syscall.Access(dir, write) == nil
}
