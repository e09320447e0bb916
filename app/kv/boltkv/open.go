package boltkv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/durable"
	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv/pagecache"
)

// errSyncFailed means that a file was removed, but its directory couldn't be synced.
var errSyncFailed = errors.New("sync failed")

// Options contains the parameters of Open.
type Options struct {
	LockTimeout time.Duration     // how long to wait if another process has the database locked; 0 means one second
	Fill        func(kv.Tx) error // writes the first contents of a new database
}

// Open opens the database at path. If the file doesn't exist, Open creates it. The error has kind errs.Locked if
// another process has the database open, and wraps a kv.DamageError if the file is damaged.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	opts.LockTimeout = lockTimeout(opts.LockTimeout)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	isNew, err := createIfMissing(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	db := &DB{isNew: isNew}
	if err := db.open(path, opts.LockTimeout); err != nil {
		return nil, err
	}
	if db.identity, err = statFile(path); err != nil {
		return nil, errors.Join(err, db.bolt.Close())
	}
	return db, nil
}

// OpenReadOnly opens the database at path without writing to its directory. bbolt doesn't load the free list then, so
// a database whose free list is damaged can be checked.
func OpenReadOnly(path string, wait time.Duration) (*DB, error) {
	db := new(DB)
	err := kv.RecoverPanic(func() (err error) {
		db.bolt, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: lockTimeout(wait), ReadOnly: true,
			OpenFile: func(path string, flag int, mode os.FileMode) (file *os.File, err error) {
				db.file, err = os.OpenFile(path, flag, mode)
				return db.file, err
			}})
		return err
	})
	if err != nil {
		if db.file != nil {
			_ = db.file.Close() // releases the lock if bbolt panicked; otherwise, bbolt has closed the file
		}
		return nil, openError(path, err)
	}
	return db, nil
}

func lockTimeout(wait time.Duration) time.Duration {
	if wait == 0 {
		return time.Second
	}
	return wait
}

// open opens the database with bbolt. If bbolt panics because of damaged pages, open returns an error. The panic keeps
// bbolt from releasing the file lock then, so it is held until the process exits.
func (db *DB) open(path string, wait time.Duration) error {
	err := kv.RecoverPanic(func() (err error) {
		db.bolt, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout:         wait,
			InitialMmapSize: initialMmap,
			FreelistType:    bolt.FreelistMapType,
			OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
				return db.openFile(path, flag, mode, wait)
			},
		})
		return err
	})
	if err != nil {
		return openError(path, err)
	}
	return nil
}

// openFile opens the database file. Before bbolt reads it, openFile locks it and compares the page cache with the
// disk, unless the last session closed cleanly.
func (db *DB) openFile(path string, flag int, mode os.FileMode, wait time.Duration) (*os.File, error) {
	file, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	// Lock the file first, because another process may be writing to it.
	if err = pagecache.Lock(file, wait); err == nil {
		if db.atOpen.Clean = db.isNew || pagecache.EndedCleanly(file); !db.atOpen.Clean {
			db.atOpen, err = pagecache.Compare(file)
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	db.file = file
	return file, nil
}

// openError adds what users need to know to an error of bolt.Open.
func openError(path string, err error) error {
	if p, ok := errors.AsType[*kv.PanicError](err); ok {
		return fmt.Errorf("open %s: %w: %v", path, ErrBrokenPages, p.Reason)
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return &errs.Error{Kind: errs.Locked, Message: "another process is using this vault", Err: err}
	}
	for _, known := range []error{berrors.ErrInvalid, berrors.ErrChecksum, berrors.ErrVersionMismatch} {
		if errors.Is(err, known) {
			err = &kv.DamageError{Message: known.Error(), Err: err}
		}
	}
	return fmt.Errorf("open %s: %w", path, err)
}

// unfinishedSuffix is appended to the name of a database that is still being created.
const unfinishedSuffix = ".new"

// createIfMissing creates the database at path if there is none. It reports whether the
// database is new. It writes and syncs the file under a temporary name first, so after a
// crash, vault.db is either missing or complete. If two processes create it at the same
// time, the first one wins.
func createIfMissing(ctx context.Context, path string, opts Options) (isNew bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Size() == 0:
		return false, fmt.Errorf("%s is empty; restore a backup, or delete the file to create a new vault", path)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+unfinishedSuffix)
	if err != nil {
		return false, fmt.Errorf("create %s: %w", path, err)
	}
	name := file.Name()
	if err := errors.Join(file.Close(), writeNewFile(ctx, name, opts)); err != nil {
		return false, errors.Join(fmt.Errorf("create %s: %w", path, err), os.Remove(name))
	}
	if err := publish(name, path); err != nil {
		return false, fmt.Errorf("create %s: %w", path, err)
	}
	return true, durable.SyncDir(dir)
}

func writeNewFile(ctx context.Context, path string, opts Options) error {
	file, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: opts.LockTimeout})
	if err != nil {
		return err
	}
	db := &DB{bolt: file, markRemoved: true} // a new file has no clean mark
	tx, err := db.Begin(ctx, true)
	if err == nil {
		err = opts.Fill(tx)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if tx != nil {
		err = errors.Join(err, tx.Rollback())
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// publish links the new database to its final name unless another process has already
// created one. A rename would replace that process's database while it may be in use.
func publish(newPath, path string) error {
	err := os.Link(newPath, path)
	if _, statErr := os.Stat(path); err == nil || statErr == nil {
		_ = os.Remove(newPath) // if this fails, RemoveUnfinished removes the file
		return nil
	}
	// The file system doesn't support hard links (for example, exFAT).
	return os.Rename(newPath, path)
}

// RemoveUnfinished deletes files left behind by crashes during the creation of the database. Call it when the opened
// database is usable, because from then on, a process that tries to create one finds it.
// Files that can't be deleted are harmless. On Windows, such a file can be a second name of
// the open database.
func (db *DB) RemoveUnfinished() {
	path := db.Path()
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
