//go:build !windows

package secret

import (
	"errors"
	"os"
)

// syncDir makes a new name in dir survive a power cut.
func syncDir(dir string) error {
	handle, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(handle.Sync(), handle.Close())
}
