package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// unfinishedSuffix follows the name of a database that is still being made.
const unfinishedSuffix = ".new"

// createIfMissing makes a new database beside its place, whole and synced, before it gets
// its name: a crash leaves either no vault.db or a complete one. Of two processes
// that make one at the same time, the first wins and neither harms the other. It
// reports whether the database is new and synced.
func createIfMissing(path string, opts Options) (fresh bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Size() == 0:
		return false, fmt.Errorf("%s is empty: put back a backup, or remove it to start a new vault", path)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+unfinishedSuffix)
	if err != nil {
		return false, fmt.Errorf("create %s: %w", path, err)
	}
	name := file.Name()
	if err := errors.Join(file.Close(), writeNewFile(name, opts)); err != nil {
		return false, errors.Join(fmt.Errorf("create %s: %w", path, err), os.Remove(name))
	}
	if err := publish(name, path); err != nil {
		return false, fmt.Errorf("create %s: %w", path, err)
	}
	return true, syncDir(dir)
}

func writeNewFile(path string, opts Options) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: opts.LockTimeout})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error { return initialize(&Tx{tx: tx, caches: new(caches)}, opts) })
	if err == nil {
		err = db.Sync()
	}
	return errors.Join(err, db.Close())
}

// publish gives the new database its name, unless another process was quicker: a
// rename would replace the vault that it may already be writing to.
func publish(fresh, path string) error {
	err := os.Link(fresh, path)
	if _, statErr := os.Stat(path); err == nil || statErr == nil {
		_ = os.Remove(fresh) // what stays is taken away at a later Open
		return nil
	}
	// A file system without links, such as exFAT: nothing better is to be had.
	return os.Rename(fresh, path)
}

// removeUnfinished removes what crashes around a publish left behind. What cannot
// be removed harms nobody: on Windows, a second name of the file that is open.
func removeUnfinished(path string) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+unfinishedSuffix) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
