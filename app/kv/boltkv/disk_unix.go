//go:build !windows

package boltkv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// initialMmap is the initial size of the memory map. It is large because bbolt has to remap
// the file when the file outgrows the map, and writers then wait for all open readers.
const initialMmap = 1 << 30

// removeDurably removes a file, if it exists, and syncs its directory so that a power
// failure can't bring it back. The error wraps errSyncFailed if the file was removed but
// the sync failed.
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
