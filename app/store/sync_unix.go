//go:build !windows

package store

import (
	"errors"
	"os"
)

// initialMmap keeps a writer from waiting for readers each time the file grows.
const initialMmap = 1 << 30

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
