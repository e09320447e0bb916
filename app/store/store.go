package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/model"
	"deedkeep/app/pagecache"
	"deedkeep/app/stats"
)

// Store is an open vault.db file. Its methods are safe for concurrent use.
type Store struct {
	db            *bolt.DB
	identity      *fileIdentity // nil if CheckFile has nothing to compare, as after OpenReadOnly
	caches        caches
	fingerprint   string
	commitTx      func(*bolt.Tx) error // (*bolt.Tx).Commit; tests replace it to simulate disk errors
	hash          func(string) uint64  // hashes column values; nil means fnv1a. Tests replace it to force collisions
	writeMu       sync.Mutex           // held while a write transaction is open
	rebuildBatch  int                  // maximum number of records per transaction during a rebuild
	batchSizes    *stats.Histogram     // updates per commit
	commitSeconds *stats.Histogram     // duration of each commit

	file             *os.File // file that bbolt uses and closes
	isNew            bool     // this Open created the file
	cacheCheck       CacheCheck
	cleanMarkRemoved bool // guarded by writeMu
	cleanMarkWritten bool // guarded by writeMu; Close already tried to write the mark

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
// bbolt can't reuse freed pages while a read transaction is open, so the file grows.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.db.View(func(tx *bolt.Tx) error {
		t := s.newTx(tx)
		t.ctxErr = ctx.Err
		return RecoverPanic(func() error { return fn(t) })
	})
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return errClosing
	}
	return err
}

// Read returns the result of read, which runs in a View of s.
func Read[T any](ctx context.Context, s *Store, read func(*Tx) (T, error)) (result T, err error) {
	err = s.View(ctx, func(t *Tx) (err error) { result, err = read(t); return err })
	return result, err
}

// CacheCheck is the result of comparing vault.db in the page cache with the disk.
type CacheCheck = pagecache.Result

// CacheCheck returns the result of Open's comparison of the page cache with the disk.
func (s *Store) CacheCheck() CacheCheck { return s.cacheCheck }

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
func (s *Store) Size() int64 {
	var n int64
	// View fails only if the database is closed.
	_ = s.db.View(func(tx *bolt.Tx) error { n = tx.Size(); return nil })
	return n
}

// Close commits the queued updates, rejects later ones, and closes the file after all open
// views have ended. If it is called again, it also waits for these commits.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.wakeWriter()
	<-s.writerDone
	s.updateCleanMark()
	return s.db.Close()
}

// removeCleanMark removes the clean mark before the first write of a session. The caller
// must hold s.writeMu.
func (s *Store) removeCleanMark() error {
	if s.cleanMarkRemoved {
		return nil
	}
	err := removeDurably(s.db.Path() + pagecache.CleanMarkSuffix)
	s.cleanMarkRemoved = err == nil
	if errors.Is(err, errSyncFailed) {
		s.Fail(err)
	}
	return err
}

// updateCleanMark writes the clean mark after the last commit if no commit of the session
// failed. Errors are ignored, because without a mark the next Open just checks the file.
func (s *Store) updateCleanMark() {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.cleanMarkWritten || s.file == nil {
		return
	}
	s.cleanMarkWritten = true
	path := s.file.Name() + pagecache.CleanMarkSuffix
	var err error
	switch {
	case s.Failure() != nil:
		err = s.Failure()
	case s.cleanMarkRemoved || s.isNew || !s.cacheCheck.Clean:
		err = s.writeCleanMark()
	}
	if err != nil {
		_ = os.Remove(path) // if this fails, the truncated or outdated mark is still invalid
	}
}

// writeCleanMark syncs the database and writes the clean mark.
func (s *Store) writeCleanMark() error {
	// Sync also reports errors of earlier background writes.
	if err := s.db.Sync(); err != nil {
		return err
	}
	return pagecache.WriteCleanMark(s.file)
}

// Tx is a transaction with typed reads and writes. It is valid only inside the function
// that it is passed to. The values it returns are decoded copies, so they remain valid
// afterward.
type Tx struct {
	tx        *bolt.Tx
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
	ctxErr         func() error        // ctx.Err of a View; nil in a write transaction
	buckets        []openBucket        // buckets in use; nil in a write transaction
}

// canceled returns the context's error if this is a View whose context was canceled.
func (t *Tx) canceled() error {
	if t.ctxErr == nil {
		return nil
	}
	return t.ctxErr()
}

func (s *Store) newTx(tx *bolt.Tx) *Tx {
	return &Tx{tx: tx, caches: &s.caches, hash: s.hash, notify: s.notifyChanged}
}

// bucket returns a bucket.
func (t *Tx) bucket(name []byte) *bolt.Bucket {
	if t.tx.Writable() {
		return t.tx.Bucket(name)
	}
	return t.openBucket(name).bucket
}

// value returns the value of a key, or nil if there is none.
func (t *Tx) value(name, key []byte) []byte {
	if t.tx.Writable() {
		return t.tx.Bucket(name).Get(key)
	}
	b := t.openBucket(name)
	if b.cursor == nil {
		b.cursor = b.bucket.Cursor()
	}
	if k, raw := b.cursor.Seek(key); bytes.Equal(k, key) {
		return raw
	}
	return nil
}

// openBucket is a bucket that a read transaction has looked up. bbolt would look it up in the root bucket each
// time, and allocate a cursor for each key.
type openBucket struct {
	name   []byte
	bucket *bolt.Bucket
	cursor *bolt.Cursor // used by Tx.value; nil until then
}

// openBucket returns a bucket of a read transaction. The result is valid until the next call.
func (t *Tx) openBucket(name []byte) *openBucket {
	for i := range t.buckets {
		if &t.buckets[i].name[0] == &name[0] {
			return &t.buckets[i]
		}
	}
	t.buckets = append(t.buckets, openBucket{name: name, bucket: t.tx.Bucket(name)})
	return &t.buckets[len(t.buckets)-1]
}

// ReadOnly reports whether the store was opened by OpenReadOnly. If so, nothing changes the
// file.
func (s *Store) ReadOnly() bool { return errors.Is(s.Failure(), errReadOnlyDisk) }
