// Package durable holds the file-system steps that survive a power failure: sync of a
// directory, atomic rename, and replacement of a small file. It also recognizes the
// errors of a full disk.
//
// A new or renamed file survives a power failure after three steps: its content is
// synced, it is renamed, and its directory is synced. On Windows a directory can't be
// synced, so Rename writes the move through to the disk.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile writes a small file with the given mode, or replaces it. Readers see either
// the old or the new content, also after a crash. A crash can leave a temporary file
// named ".NAME-*" beside it. The directory is synced where its file system supports that.
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
