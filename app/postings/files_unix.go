//go:build !windows

package postings

import (
	"errors"
	"os"
)

func (system) Rename(from, to string) error { return os.Rename(from, to) }

func (system) SyncDir(path string) error {
	d, err := os.Open(path) // #nosec G304 -- the folder of the index
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
