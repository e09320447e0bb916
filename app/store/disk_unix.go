//go:build !windows

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// initialMmap keeps a writer from waiting for readers each time the file grows.
const initialMmap = 1 << 30

// removeDurably removes a file, if it is there, so that it stays removed after a power
// cut. The error has errSyncFailed in its chain when only that is in doubt.
func removeDurably(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = os.Remove(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil:
		if err = dir.Sync(); err != nil {
			err = fmt.Errorf("%w: %w", errSyncFailed, err)
		}
	}
	return errors.Join(err, dir.Close())
}
