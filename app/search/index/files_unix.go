//go:build !windows

package index

import (
	"errors"
	"os"
)

func (osFileSystem) Rename(from, to string) error { return os.Rename(from, to) }

func (osFileSystem) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
