package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv"
	"deedkeep/app/model"
	"deedkeep/app/stats"
)

// Store is an open vault.db file. Its methods are safe for concurrent use.
type Store struct {
	db            kv.DB
	caches        caches
	fingerprint   string
	commitTx      func(kv.Tx) error   // commits a transaction; tests replace it to simulate disk errors
	hash          func(string) uint64 // hashes column values; nil means fnv1a. Tests replace it to force collisions
	writeMu       sync.Mutex          // held by a batch, and by a rebuild during all of its transactions
	rebuildBatch  int                 // maximum number of records per transaction during a rebuild
	batchSizes    *stats.Histogram    // updates per commit
	commitSeconds *stats.Histogram    // duration of each commit
	views         atomic.Uint64       // calls of View

	mu           sync.Mutex
	queue        []*batchMember
	closing      bool
	failure      error
	rebuildDone  chan struct{} // closed when the Rebuild in progress ends; nil if none is in progress
	rebuildCount int           // number of rebuilds started
	wake         chan struct{}
	writerDone   chan struct{}
	changed      chan struct{}
	events       eventFeed
}

// View runs fn on a consistent snapshot of the database. fn must return quickly, because
// the database can't reuse freed space while a read transaction is open, so the file grows.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	s.views.Add(1)
	tx, err := s.db.Begin(ctx, false)
	if err != nil {
		return beginError(err)
	}
	return runView(tx, s.newTx(ctx, tx), fn)
}

// beginError returns the error for a transaction or a check that can't begin.
func beginError(err error) error {
	if errors.Is(err, kv.ErrClosed) {
		return errClosing
	}
	return fileError(err)
}

// runView runs fn in a read transaction and ends it, also if fn ends the goroutine. An open one would block Close.
func runView(tx kv.Tx, t *Tx, fn func(*Tx) error) (err error) {
	defer func() {
		if failed := tx.Rollback(); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	return RecoverPanic(func() error { return fn(t) })
}

// Read returns the result of read, which runs in a View of s.
func Read[T any](ctx context.Context, s *Store, read func(*Tx) (T, error)) (result T, err error) {
	err = s.View(ctx, func(t *Tx) (err error) { result, err = read(t); return err })
	return result, err
}

// AtOpen returns the result of Open's comparison of the page cache with the disk.
func (s *Store) AtOpen() kv.OpenState { return s.db.AtOpen() }

// Failure returns the disk error that made the store read-only, or nil.
func (s *Store) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// Fail makes the store read-only. A caller uses it to report that a sync to the disk
// failed. Only the first error is kept.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		s.failure = err
	}
}

// Size returns the size of the database file in bytes, or 0 after Close.
func (s *Store) Size() int64 { return s.db.Size() }

// Close commits the queued updates, rejects later ones, and closes the file after all open
// views have ended. If it is called again, it also waits for these commits.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.wakeWriter()
	<-s.writerDone
	s.writeMu.Lock() // wait for a rebuild
	defer s.writeMu.Unlock()
	return s.db.Close(s.Failure() == nil)
}

// Tx is a transaction with typed reads and writes. It is valid only inside the function
// that it is passed to. The values it returns are decoded copies, so they remain valid
// afterward.
type Tx struct {
	tx        kv.Tx
	ctx       context.Context // of the View; no later than the commit in a write transaction
	writable  bool
	caches    *caches
	lastEntry *model.Event        // newest audit log entry; nil until this transaction reads or writes it
	hash      func(string) uint64 // see Store.hash

	counterDeltas  map[Counter]int64 // changes that flush has not written yet
	valueDeltas    map[valueCountKey]int64
	tasksByFile    map[uint64][]uint64 // task sequence numbers by file ID; nil until loaded
	changedSet     map[uint64]struct{} // typed IDs for the change feed
	changedIDs     []uint64            // the same IDs in order
	changed        chan<- struct{}     // wakes the follower of the change feed; nil for a Copy
	events         *eventFeed          // follower of the audit log; nil for a Copy
	oldKey, newKey []byte              // scratch buffers of updateEntries
	committed      []func()            // called after the commit
	buckets        []*bucket           // buckets in use
}

// canceled returns the context's error if this is a View whose context was canceled.
func (t *Tx) canceled() error {
	if t.writable {
		return nil
	}
	return t.ctx.Err()
}

func (s *Store) newTx(ctx context.Context, tx kv.Tx) *Tx {
	return &Tx{tx: tx, ctx: ctx, caches: &s.caches, hash: s.hash, changed: s.changed, events: &s.events}
}

// ReadOnly reports whether the store was opened by OpenReadOnly. If so, nothing changes the
// file.
func (s *Store) ReadOnly() bool { return errors.Is(s.Failure(), errReadOnlyDisk) }

// Options contains the parameters of Open and OpenReadOnly.
type Options struct {
	Now         func() time.Time
	Fingerprint string        // fingerprint of the vault's secret.key
	LockTimeout time.Duration // how long to wait if another process has the database locked; 0 means one second
	Workspace   model.Workspace
	Version     string   // version of deedkeep, stored in the database; "": not stored
	Upgrade     *Upgrade // how a database with an older schema is migrated; nil: Open returns an error that wraps ErrOldSchema
}

// Open opens the database at path and migrates it to the current schema (see Upgrade). If the
// file doesn't exist, Open creates it with opts.Workspace. The error has kind errs.Locked if
// another process has the database open. If the schema is too new or the database belongs
// to a different secret.key, the error says what to do.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	db, err := boltkv.Open(ctx, path, boltkv.Options{LockTimeout: opts.LockTimeout, Fill: func(tx kv.Tx) error {
		return initialize(&Tx{tx: tx, ctx: ctx, writable: true, caches: new(caches)}, opts)
	}})
	if err != nil {
		return nil, err
	}
	s := newStore(db, opts)
	s.failure = db.AtOpen().WriteError
	if err := s.upgrade(ctx, opts); err != nil {
		return nil, errors.Join(err, db.Close(s.failure == nil)) // a vault of another version keeps its clean mark
	}
	db.RemoveUnfinished()
	go s.runWriter()
	return s, nil
}

// newStore returns a store. The caller has to start its writer.
func newStore(db kv.DB, opts Options) *Store {
	return &Store{
		db:            db,
		fingerprint:   opts.Fingerprint,
		commitTx:      func(tx kv.Tx) error { return tx.Commit(context.Background()) },
		rebuildBatch:  defaultRebuildBatch,
		batchSizes:    stats.NewHistogram(batchSizeBounds...),
		commitSeconds: stats.NewHistogram(commitSecondsBounds...),
		wake:          make(chan struct{}, 1),
		writerDone:    make(chan struct{}),
		changed:       make(chan struct{}, 1),
		events:        eventFeed{added: make(chan struct{}, 1)},
	}
}

var errReadOnlyDisk = errs.NotNow(errs.ReadOnly,
	"The data directory can't be written to (read-only disk, or permissions). "+
		"You can read, verify, and back up the vault, but not change it.", nil)

// OpenReadOnly opens the database at path for the case that its directory isn't writable.
// The store rejects all updates. If the database has an older schema, OpenReadOnly returns
// an error, because it can't migrate it.
func OpenReadOnly(ctx context.Context, path string, opts Options) (*Store, error) {
	db, err := boltkv.OpenReadOnly(path, opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	s := newStore(db, opts)
	s.failure = errReadOnlyDisk
	close(s.writerDone) // there is no writer to wait for
	err = s.View(ctx, func(t *Tx) error {
		have, err := checkSchema(t, opts.Fingerprint, Schema)
		if err == nil && have != Schema {
			err = fmt.Errorf(
				"%s has schema %d and can't be migrated to schema %d because the directory is read-only; copy the data directory to another disk",
				path, have, Schema)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close(false))
	}
	return s, nil
}

// CheckFile returns nil if the opened database is still at its path. Otherwise, the error
// has kind errs.Unavailable.
func (s *Store) CheckFile() error { return fileError(s.db.Available()) }

// fileError returns the error for one of the database's file.
func fileError(err error) error {
	switch {
	case errors.Is(err, kv.ErrGone):
		return errs.NotNow(errs.ReadOnly, "The data directory is missing: it was moved, or its disk is not mounted. "+
			"The server accepts changes again when the directory is back.", err)
	case errors.Is(err, kv.ErrReplaced):
		return errs.NotNow(errs.ReadOnly, "vault.db was replaced while the server was running. Restart the server.", err)
	default:
		return err
	}
}

// errNotVault is wrapped by Open's error if the file lacks something that every vault has.
var errNotVault = errors.New("this file is not a deedkeep database")

// DescribeDamage returns the message for an error that was caused by a damaged database
// file. damaged is false for all other errors.
func DescribeDamage(err error) (message string, damaged bool) {
	if caught, ok := errors.AsType[*kv.PanicError](err); ok {
		return fmt.Sprint(caught.Reason), true
	}
	if damage, ok := errors.AsType[*kv.DamageError](err); ok {
		return damage.Message, true
	}
	if errors.Is(err, errNotVault) {
		return errNotVault.Error(), true
	}
	return "", false
}

// ProblemText returns the text of err for a Finding, without the stack trace of a kv.PanicError.
func ProblemText(err error) string {
	if message, damaged := DescribeDamage(err); damaged {
		return message
	}
	return err.Error()
}
