//go:build !windows

package integrity

import (
	"os"
	"syscall"
)

// CreatePrivateDir creates the data directory if needed and sets its mode to 0700.
func CreatePrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) // #nosec G302 -- a directory needs its x bit
}

// Writable reports whether this process is allowed to write to a directory.
func Writable(dir string) bool {
	const write = 2
	return syscall.Access(dir, write) == nil
}
