//go:build !windows

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// initialMmap is large so that writers don't wait for open readers whenever the file grows:
// bbolt remaps the file then.
const initialMmap = 1 << 30

// removeDurably removes a file, if it exists, so that it stays removed after a power
// failure. The error wraps errSyncFailed when the file was removed but the sync failed.
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
