package store

import (
	"context"
	"errors"
	"sync"

	"deedkeep/app/kv"
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

	mu           sync.Mutex
	queue        []*batchMember
	closing      bool
	failure      error
	rebuildDone  chan struct{} // closed when the Rebuild in progress ends; nil if none is in progress
	rebuildCount int           // number of rebuilds started
	wake         chan struct{}
	writerDone   chan struct{}
	changed      chan struct{}
}

// View runs fn on a consistent snapshot of the database. fn must return quickly, because
// the database can't reuse freed space while a read transaction is open, so the file grows.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
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
	notify         func()              // wakes the follower of the change feed; nil for a Copy
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
	return &Tx{tx: tx, ctx: ctx, caches: &s.caches, hash: s.hash, notify: s.notifyChanged}
}

// ReadOnly reports whether the store was opened by OpenReadOnly. If so, nothing changes the
// file.
func (s *Store) ReadOnly() bool { return errors.Is(s.Failure(), errReadOnlyDisk) }
