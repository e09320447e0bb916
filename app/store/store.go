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

// Store is an open vault.db. It is safe for many goroutines.
type Store struct {
	db            *bolt.DB
	identity      *fileIdentity // nil: not looked at
	caches        caches
	fingerprint   string
	commitTx      func(*bolt.Tx) error // (*bolt.Tx).Commit; a test hands in a broken disk
	hash          func(string) uint64  // of words; nil: fnv1a. A test hands in one that collides
	writeMu       sync.Mutex           // of whoever writes
	rebuildBatch  int                  // records in a transaction that makes indexes
	batchSizes    *stats.Histogram     // changes of a commit
	commitSeconds *stats.Histogram     // seconds of a commit

	file             *os.File // bbolt's own
	isNew            bool     // made by this Open
	cacheCheck       CacheCheck
	cleanMarkRemoved bool // the mark of a clean end was removed; under turn, as is
	cleanMarkWritten bool // Close has left a new one, or not

	mu           sync.Mutex
	queue        []*batchMember
	closing      bool
	failure      error
	rebuildDone  chan struct{} // closed when the Rebuild in progress ends; nil while there is none
	rebuildCount int           // begun so far
	wake         chan struct{}
	writerDone   chan struct{}
	changed      chan struct{}
}

// View runs fn on a consistent snapshot. Nothing slow may happen inside: an open
// reader makes the file grow.
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

// CacheCheck gives what Open found out about the file in memory and on the disk.
func (s *Store) CacheCheck() CacheCheck { return s.cacheCheck }

// Failure gives the disk's error after which the store went read-only, or nil.
func (s *Store) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// Fail makes the store refuse every write from now on: somebody above saw the disk
// fail to sync. The first reason is kept.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		s.failure = err
	}
}

// Size is the length of the database file in bytes.
func (s *Store) Size() int64 {
	var n int64
	// A closed database has no size worth an error here.
	_ = s.db.View(func(tx *bolt.Tx) error { n = tx.Size(); return nil })
	return n
}

// Close commits what waits, refuses what comes after, and closes the file once
// the views that are open have ended. A second Close waits for the commits too.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.wakeWriter()
	<-s.writerDone
	s.updateCleanMark()
	return s.db.Close()
}

// Tx is a transaction: typed reads and writes, valid only inside the function it
// was handed to. What it returns is decoded and may be kept.
type Tx struct {
	tx        *bolt.Tx
	caches    *caches
	lastEntry *model.Event        // the last of the log, once this transaction has read or written it
	hash      func(string) uint64 // see Store

	counterDeltas  map[Counter]int64 // what was added since the last flush
	valueDeltas    map[valueCountKey]int64
	tasksByFile    map[uint64][]uint64 // the tasks of files, once asked for
	changedSet     map[uint64]struct{} // records that the feed of changes is told of, and
	changedIDs     []uint64            // the same in their order
	notify         func()              // of the store; nil of a copy
	oldKey, newKey []byte              // room for keys
	ctxErr         func() error        // why nobody waits for it any more; nil of a write
}

// canceled is the error of whoever looks and has gone.
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

// ReadOnly reports whether nothing changes the file while it is open (OpenReadOnly).
func (s *Store) ReadOnly() bool { return errors.Is(s.Failure(), errReadOnlyDisk) }
