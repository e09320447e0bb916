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
	"deedkeep/app/stats"
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

// Options of Open.
type Options struct {
	Now         func() time.Time
	Fingerprint string        // of the secret.key that belongs to this vault
	LockTimeout time.Duration // how long to wait for another process; one second when 0
	Workspace   model.Workspace
}

// Open opens vault.db at path and brings it to the current schema, or creates it
// with the workspace when there is none. It returns a *title.Error of kind Locked
// when another process has it, and plain sentences for a newer schema or another
// vault's secret.key.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.LockTimeout == 0 {
		opts.LockTimeout = time.Second
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fresh, err := createIfMissing(path, opts)
	if err != nil {
		return nil, err
	}
	from := &fileOpener{isNew: fresh, lockTimeout: opts.LockTimeout}
	db, err := from.openFile(path)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, file: from.file, isNew: fresh, cacheCheck: from.cacheCheck, failure: from.cacheCheck.WriteError, fingerprint: opts.Fingerprint, commitTx: (*bolt.Tx).Commit, rebuildBatch: defaultRebuildBatch, wake: make(chan struct{}, 1), writerDone: make(chan struct{}), changed: make(chan struct{}, 1)}
	if s.identity, err = statFile(path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.batchSizes, s.commitSeconds = stats.NewHistogram(batchSizeBounds...), stats.NewHistogram(commitSecondsBounds...)
	if err := s.upgrade(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// Whoever makes a vault now finds this one in its place.
	removeUnfinished(path)
	go s.runWriter()
	return s, nil
}

func (o *fileOpener) openFile(path string) (db *bolt.DB, err error) {
	err = recoverPanic(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout:         o.lockTimeout,
			InitialMmapSize: initialMmap,
			FreelistType:    bolt.FreelistMapType,
			OpenFile:        o.open,
		})
		return err
	})
	if p := new(panicError); errors.As(err, &p) {
		// bbolt fell over a page. The file stays locked until the process ends.
		return nil, fmt.Errorf("open %s: %w: %v", path, errBrokenPages, p.reason)
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, &errs.Error{Kind: errs.Locked, Message: "another process has this vault open", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return db, nil
}

var errReadOnlyDisk = &errs.Error{Kind: errs.Unavailable, Message: "The data directory can't be written to (read-only disk, or permissions). You can read, verify, and back up the vault, but not change it."}

// OpenReadOnly opens vault.db at path in a directory that can't be written to. It refuses
// every change, and a database of an older schema, which it can't migrate.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.LockTimeout == 0 {
		opts.LockTimeout = time.Second
	}
	var db *bolt.DB
	err := recoverPanic(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: opts.LockTimeout, ReadOnly: true})
		return err
	})
	switch {
	case errors.As(err, new(*panicError)):
		return nil, fmt.Errorf("open %s: %w", path, errBrokenPages)
	case errors.Is(err, berrors.ErrTimeout):
		return nil, &errs.Error{Kind: errs.Locked, Message: "another process has this vault open", Err: err}
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	s := &Store{db: db, fingerprint: opts.Fingerprint, failure: errReadOnlyDisk, commitTx: (*bolt.Tx).Commit, rebuildBatch: defaultRebuildBatch, wake: make(chan struct{}, 1), writerDone: make(chan struct{}), changed: make(chan struct{}, 1)}
	s.batchSizes, s.commitSeconds = stats.NewHistogram(batchSizeBounds...), stats.NewHistogram(commitSecondsBounds...)
	close(s.writerDone) // nothing commits
	err = s.View(ctx, func(t *Tx) error {
		have, err := checkSchema(t.tx, opts.Fingerprint, Schema)
		if err == nil && have != Schema {
			err = fmt.Errorf("%s has schema %d and can't be migrated to %d, because its directory can't be written to: copy the data directory to another disk", path, have, Schema)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// fileIdentity is which file the database is, whatever its name.
type fileIdentity struct {
	path string
	info os.FileInfo
}

func statFile(path string) (*fileIdentity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	os.SameFile(info, info) // Windows looks the identity up at the first comparison.
	return &fileIdentity{path, info}, nil
}

// CheckFile is nil while the database is where it was opened, and else Closing: its
// directory was moved away, or its disk unmounted. The open file can still be written
// to then, but what lies beside it can't be found. It ends when the same file is back.
func (s *Store) CheckFile() error {
	if s.identity == nil {
		return nil
	}
	switch info, err := os.Stat(s.identity.path); {
	case err != nil:
		return &errs.Error{Kind: errs.Unavailable, Err: err, Message: "The data directory is gone: it was moved, or its disk is not mounted. The server accepts no changes until it is back."}
	case !os.SameFile(info, s.identity.info):
		return &errs.Error{Kind: errs.Unavailable, Err: fmt.Errorf("%s is another file", s.identity.path), Message: "Another vault.db is in place of the one that was opened. Restart the server."}
	}
	return nil
}

// errNotVault is in the chain of Open's error for a file that lacks what every vault has.
var errNotVault = errors.New("this file is no vault")

// DescribeDamage gives the sentence of an error that comes from a damaged database file, and
// false for every other error.
func DescribeDamage(err error) (sentence string, damaged bool) {
	if caught, ok := errors.AsType[*panicError](err); ok {
		return fmt.Sprint(caught.reason), true
	}
	if errors.Is(err, errBrokenPages) {
		return "its pages cannot be read", true
	}
	for _, known := range []error{berrors.ErrInvalid, berrors.ErrChecksum, berrors.ErrVersionMismatch, errNotVault} {
		if errors.Is(err, known) {
			return known.Error(), true
		}
	}
	return "", false
}

// describeProblem is the sentence of an error for a finding: without the way to a panic.
func describeProblem(err error) string {
	if sentence, damaged := DescribeDamage(err); damaged {
		return sentence
	}
	return err.Error()
}
