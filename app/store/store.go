package store

import (
	"context"
	"errors"
	"os"
	"sync"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/model"
	"deedkeep/app/stats"
)

// Store is an open vault.db. Its methods are safe for concurrent use.
type Store struct {
	db            *bolt.DB
	identity      *fileIdentity // nil when CheckFile has nothing to compare (OpenReadOnly)
	caches        caches
	fingerprint   string
	commitTx      func(*bolt.Tx) error // (*bolt.Tx).Commit; tests replace it to simulate a failing disk
	hash          func(string) uint64  // hashes column values; nil means fnv1a. Tests replace it to force collisions
	writeMu       sync.Mutex           // held while a write transaction is open
	rebuildBatch  int                  // max records per transaction of a rebuild
	batchSizes    *stats.Histogram     // updates per commit
	commitSeconds *stats.Histogram     // duration of each commit

	file             *os.File // opened for bbolt, which closes it
	isNew            bool     // created by this Open
	cacheCheck       CacheCheck
	cleanMarkRemoved bool // guarded by writeMu
	cleanMarkWritten bool // guarded by writeMu; Close has tried to write the mark

	mu           sync.Mutex
	queue        []*batchMember
	closing      bool
	failure      error
	rebuildDone  chan struct{} // closed when the Rebuild in progress ends; nil when none is in progress
	rebuildCount int           // rebuilds started so far
	wake         chan struct{}
	writerDone   chan struct{}
	changed      chan struct{}
}

// View runs fn on a consistent snapshot of the database. fn must be fast: while a read
// transaction is open, bbolt can't reuse freed pages, and the file grows.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.db.View(func(tx *bolt.Tx) error {
		t := s.newTx(tx)
		t.ctxErr = ctx.Err
		return recoverPanic(func() error { return fn(t) })
	})
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return errClosing
	}
	return err
}

// CacheCheck returns the result of the comparison of page cache and disk that Open ran.
func (s *Store) CacheCheck() CacheCheck { return s.cacheCheck }

// Failure returns the disk error after which the store became read-only, or nil.
func (s *Store) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// Fail makes the store read-only because a caller saw the disk fail to sync. Only the first
// error is kept.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		s.failure = err
	}
}

// Size returns the size of the database file in bytes, and 0 after Close.
func (s *Store) Size() int64 {
	var n int64
	// The only possible error is that the database is closed.
	_ = s.db.View(func(tx *bolt.Tx) error { n = tx.Size(); return nil })
	return n
}

// Close commits the queued updates, rejects later ones, and closes the file after all open
// views have ended. A second call also waits for the commits.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.wakeWriter()
	<-s.writerDone
	s.updateCleanMark()
	return s.db.Close()
}

// Tx is a transaction with typed reads and writes. It is valid only inside the function it
// is passed to. The values it returns are decoded copies and remain valid afterward.
type Tx struct {
	tx        *bolt.Tx
	caches    *caches
	lastEntry *model.Event        // newest audit entry; nil until this transaction reads or writes it
	hash      func(string) uint64 // see Store.hash

	counterDeltas  map[Counter]int64 // not flushed yet
	valueDeltas    map[valueCountKey]int64
	tasksByFile    map[uint64][]uint64 // task numbers by file; nil until loaded
	changedSet     map[uint64]struct{} // records for the change feed
	changedIDs     []uint64            // the same records in order
	notify         func()              // wakes the follower of the feed; nil for a Copy
	oldKey, newKey []byte              // scratch buffers of updateEntries
	ctxErr         func() error        // ctx.Err of a View; nil for a write
}

// canceled returns the context error of a View that was canceled, or nil.
func (t *Tx) canceled() error {
	if t.ctxErr == nil {
		return nil
	}
	return t.ctxErr()
}

func (s *Store) newTx(tx *bolt.Tx) *Tx {
	return &Tx{tx: tx, caches: &s.caches, hash: s.hash, notify: s.notifyChanged}
}

func (t *Tx) bucket(name []byte) *bolt.Bucket { return t.tx.Bucket(name) }

// ReadOnly reports whether the store was opened by OpenReadOnly, so that nothing changes the
// file.
func (s *Store) ReadOnly() bool { return errors.Is(s.Failure(), errReadOnlyDisk) }
