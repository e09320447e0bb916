// Package durable provides file system operations that survive a power failure: syncing a
// directory, atomic renames, and replacing a small file. It also detects errors caused by a
// full disk.
//
// A new or renamed file survives a power failure after three steps: its content is synced,
// it is renamed, and its directory is synced. On Windows, directories can't be synced, so
// Rename makes Windows write the move to the disk before it returns.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile creates or replaces a small file with the given mode. Readers see either the
// old or the new content, even after a crash. A crash can leave behind a temporary file
// named ".NAME-*" in the same directory. WriteFile syncs the directory if the file system
// supports it.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir), "."+name+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && mode != 0o600 {
		err = os.Chmod(f.Name(), mode)
	}
	if err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDirIfSupported(filepath.Clean(dir))
}
