//go:build !windows

package vault

import "os"

// private makes the data directory, for its owner's eyes only.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) // #nosec G302 -- a directory needs its x bit
}
