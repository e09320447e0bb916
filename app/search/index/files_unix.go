//go:build !windows

package index

import (
	"errors"
	"os"
)

func (system) Rename(from, to string) error { return os.Rename(from, to) }

func (system) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
