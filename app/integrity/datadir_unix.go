//go:build !windows

package integrity

import (
	"errors"
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

// IsReadOnly reports whether CreatePrivateDir failed with err because this process can only
// read the directory: its file system is read-only, or it belongs to another user. EROFS
// decides before the permissions do, because an ext4 file system that stopped writing after
// an error still grants write access.
func IsReadOnly(dir string, err error) bool {
	const write = 2
	return errors.Is(err, syscall.EROFS) || err != nil && syscall.Access(dir, write) != nil
}
