package store

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
	"deedkeep/app/model"
	"deedkeep/app/pagecache"
	"deedkeep/app/stats"
)

// Options contains the parameters of Open and OpenReadOnly.
type Options struct {
	Now         func() time.Time
	Fingerprint string        // fingerprint of the vault's secret.key
	LockTimeout time.Duration // how long to wait if another process has the database locked; 0 means one second
	Workspace   model.Workspace
}

// Open opens the database at path and migrates it to the current schema. If the file
// doesn't exist, Open creates it with opts.Workspace. The error has kind errs.Locked if
// another process has the database open. If the schema is too new or the database belongs
// to a different secret.key, the error says what to do.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.LockTimeout == 0 {
		opts.LockTimeout = time.Second
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	isNew, err := createIfMissing(path, opts)
	if err != nil {
		return nil, err
	}
	opener := &fileOpener{isNew: isNew, lockTimeout: opts.LockTimeout}
	db, err := opener.openFile(path)
	if err != nil {
		return nil, err
	}
	s := newStore(db, opts)
	s.file, s.isNew, s.cacheCheck, s.failure = opener.file, isNew, opener.cacheCheck, opener.cacheCheck.WriteError
	if s.identity, err = statFile(path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := s.upgrade(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// From this point on, a process that tries to create a vault finds this one.
	removeUnfinished(path)
	go s.runWriter()
	return s, nil
}

// newStore returns a store. The caller has to start its writer.
func newStore(db *bolt.DB, opts Options) *Store {
	return &Store{
		db:            db,
		fingerprint:   opts.Fingerprint,
		commitTx:      (*bolt.Tx).Commit,
		rebuildBatch:  defaultRebuildBatch,
		batchSizes:    stats.NewHistogram(batchSizeBounds...),
		commitSeconds: stats.NewHistogram(commitSecondsBounds...),
		wake:          make(chan struct{}, 1),
		writerDone:    make(chan struct{}),
		changed:       make(chan struct{}, 1),
	}
}

// fileOpener opens the database file for bbolt. Before bbolt reads the file, fileOpener
// locks it and compares the page cache with the disk.
type fileOpener struct {
	isNew       bool // the file was just created and synced
	lockTimeout time.Duration
	file        *os.File
	cacheCheck  CacheCheck
}

func (o *fileOpener) open(path string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	if o.cacheCheck, err = o.lockAndCheck(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	o.file = file
	return file, nil
}

// lockAndCheck locks the file and runs the page cache check unless the last session closed
// cleanly.
func (o *fileOpener) lockAndCheck(file *os.File) (CacheCheck, error) {
	// Lock the file first, because another process may be writing to it.
	if err := pagecache.Lock(file, o.lockTimeout); err != nil {
		return CacheCheck{}, err
	}
	if o.isNew || pagecache.EndedCleanly(file) {
		return CacheCheck{Clean: true}, nil
	}
	return pagecache.Compare(file)
}

// openFile opens the database with bbolt. If bbolt panics because of damaged pages,
// openFile returns an error.
func (o *fileOpener) openFile(path string) (db *bolt.DB, err error) {
	err = RecoverPanic(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout:         o.lockTimeout,
			InitialMmapSize: initialMmap,
			FreelistType:    bolt.FreelistMapType,
			OpenFile:        o.open,
		})
		return err
	})
	if p := new(panicError); errors.As(err, &p) {
		// The panic kept bbolt from releasing the file lock, so it is held until the
		// process exits.
		return nil, fmt.Errorf("open %s: %w: %v", path, errBrokenPages, p.reason)
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, &errs.Error{Kind: errs.Locked, Message: "another process is using this vault", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return db, nil
}

var errReadOnlyDisk = &errs.Error{Kind: errs.Unavailable,
	Message: "The data directory can't be written to (read-only disk, or permissions). " +
		"You can read, verify, and back up the vault, but not change it."}

// OpenReadOnly opens the database at path for the case that its directory isn't writable.
// The store rejects all updates. If the database has an older schema, OpenReadOnly returns
// an error, because it can't migrate it.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.LockTimeout == 0 {
		opts.LockTimeout = time.Second
	}
	var db *bolt.DB
	err := RecoverPanic(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: opts.LockTimeout, ReadOnly: true})
		return err
	})
	switch {
	case errors.As(err, new(*panicError)):
		return nil, fmt.Errorf("open %s: %w", path, errBrokenPages)
	case errors.Is(err, berrors.ErrTimeout):
		return nil, &errs.Error{Kind: errs.Locked, Message: "another process is using this vault", Err: err}
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := newStore(db, opts)
	s.failure = errReadOnlyDisk
	close(s.writerDone) // there is no writer to wait for
	err = s.View(ctx, func(t *Tx) error {
		have, err := checkSchema(t.tx, opts.Fingerprint, Schema)
		if err == nil && have != Schema {
			err = fmt.Errorf(
				"%s has schema %d and can't be migrated to schema %d because the directory is read-only; copy the data directory to another disk",
				path, have, Schema)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// unfinishedSuffix is appended to the name of a database that is still being created.
const unfinishedSuffix = ".new"

// createIfMissing creates the database at path if there is none. It reports whether the
// database is new. It writes and syncs the file under a temporary name first, so after a
// crash, vault.db is either missing or complete. If two processes create it at the same
// time, the first one wins.
func createIfMissing(path string, opts Options) (isNew bool, err error) {
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
	if err := errors.Join(file.Close(), writeNewFile(name, opts)); err != nil {
		return false, errors.Join(fmt.Errorf("create %s: %w", path, err), os.Remove(name))
	}
	if err := publish(name, path); err != nil {
		return false, fmt.Errorf("create %s: %w", path, err)
	}
	return true, durable.SyncDir(dir)
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

// publish links the new database to its final name unless another process has already
// created one. A rename would replace that process's database while it may be in use.
func publish(newPath, path string) error {
	err := os.Link(newPath, path)
	if _, statErr := os.Stat(path); err == nil || statErr == nil {
		_ = os.Remove(newPath) // if this fails, the next Open removes the file
		return nil
	}
	// The file system doesn't support hard links (for example, exFAT).
	return os.Rename(newPath, path)
}

// removeUnfinished deletes files left behind by crashes during the creation of a database.
// Files that can't be deleted are harmless. On Windows, such a file can be a second name of
// the open database.
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

// fileIdentity identifies the opened database file even if it was moved or replaced.
type fileIdentity struct {
	path string
	info os.FileInfo
}

// statFile returns the identity of the file at path.
func statFile(path string) (*fileIdentity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	os.SameFile(info, info) // force Windows to read the file's identity now instead of at the first comparison
	return &fileIdentity{path, info}, nil
}

// CheckFile returns nil if the opened database is still at its path. Otherwise, the error
// has kind errs.Unavailable. Possible reasons are that the directory was moved or the disk
// was unmounted. The open file would still be writable, but the files next to it can't be
// found. Once the same file is back, CheckFile returns nil again.
func (s *Store) CheckFile() error {
	if s.identity == nil {
		return nil
	}
	switch info, err := os.Stat(s.identity.path); {
	case err != nil:
		return &errs.Error{Kind: errs.Unavailable, Err: err,
			Message: "The data directory is missing: it was moved, or its disk is not mounted. The server accepts changes again when the directory is back."}
	case !os.SameFile(info, s.identity.info):
		return &errs.Error{Kind: errs.Unavailable, Err: fmt.Errorf("%s was replaced by another file", s.identity.path),
			Message: "vault.db was replaced while the server was running. Restart the server."}
	}
	return nil
}

// errNotVault is wrapped by Open's error if the file lacks something that every vault has.
var errNotVault = errors.New("this file is not a vault")

// DescribeDamage returns the message for an error that was caused by a damaged database
// file. damaged is false for all other errors.
func DescribeDamage(err error) (message string, damaged bool) {
	if caught, ok := errors.AsType[*panicError](err); ok {
		return fmt.Sprint(caught.reason), true
	}
	if errors.Is(err, errBrokenPages) {
		return "database pages can't be read", true
	}
	for _, known := range []error{berrors.ErrInvalid, berrors.ErrChecksum, berrors.ErrVersionMismatch, errNotVault} {
		if errors.Is(err, known) {
			return known.Error(), true
		}
	}
	return "", false
}

// describeProblem returns the text of err for a Finding. If err is a panicError, it omits
// the stack trace.
func describeProblem(err error) string {
	if message, damaged := DescribeDamage(err); damaged {
		return message
	}
	return err.Error()
}
