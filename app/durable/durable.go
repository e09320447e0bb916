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
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile creates or replaces a small file with the given mode. Readers see either the
// old or the new content, even after a crash. A crash can leave behind a temporary file
// named ".NAME-*" in the same directory. If root writes the file, it belongs to the owner of
// the directory, who could otherwise not read it. WriteFile syncs the directory if the file
// system supports it.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir), "."+name+"-*") // mode 0600
	if err != nil {
		return err
	}
	if err := giveToOwner(f, filepath.Clean(dir)); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err := replace(f, path, content, mode); err != nil {
		return err
	}
	return SyncDirIfSupported(filepath.Clean(dir))
}

// WriteLine creates or replaces a small file of one line with mode 0600, like WriteFile. The
// temporary file is named NAME.new, so only one caller at a time may write a file. WriteLine
// returns an error if the directory can't be synced.
func WriteLine(path string, line []byte) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := replace(f, path, append(line, '\n'), 0o600); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// replace writes and syncs the temporary file f, which has mode 0600, and renames it to path.
func replace(f *os.File, path string, content []byte, mode os.FileMode) error {
	_, err := f.Write(content)
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
	return nil
}

// IsFullWrite reports whether a write failed because the disk is full. It returns false if a sync
// failed with that error. In this case, data that should have been synced may be lost.
func IsFullWrite(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "write" && IsDiskFull(err)
}
