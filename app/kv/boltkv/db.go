// Package boltkv implements the database of app/kv with bbolt, in one file.
package boltkv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv/pagecache"
)

// DB is an open database file.
type DB struct {
	bolt     *bolt.DB
	identity *fileIdentity // nil after OpenReadOnly, so Available has nothing to compare and Close writes no clean mark
	file     *os.File      // file that bbolt uses and closes
	isNew    bool          // this Open created the file
	atOpen   kv.OpenState

	writeMu     sync.Mutex // held while a write transaction is open
	markRemoved bool       // guarded by writeMu
	closed      bool       // guarded by writeMu
}

// Bolt returns the database of bbolt, for tests and benchmarks.
func (db *DB) Bolt() *bolt.DB { return db.bolt }

// BoltTx returns the transaction of bbolt, for tests and benchmarks.
func BoltTx(tx kv.Tx) *bolt.Tx { return tx.(*transaction).tx }

// Path implements kv.DB.
func (db *DB) Path() string { return db.bolt.Path() }

// AtOpen implements kv.DB.
func (db *DB) AtOpen() kv.OpenState { return db.atOpen }

// Size implements kv.DB.
func (db *DB) Size() int64 {
	var n int64
	// View fails only if the database is closed.
	_ = db.bolt.View(func(tx *bolt.Tx) error { n = tx.Size(); return nil })
	return n
}

// Begin implements kv.DB.
func (db *DB) Begin(ctx context.Context, write bool) (kv.Tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if write {
		db.writeMu.Lock()
	}
	tx, err := db.bolt.Begin(write)
	if err != nil {
		if write {
			db.writeMu.Unlock()
		}
		if errors.Is(err, berrors.ErrDatabaseNotOpen) {
			err = kv.ErrClosed
		}
		return nil, fmt.Errorf("begin transaction: %w", err)
	}
	return &transaction{db: db, tx: tx}, nil
}

// Close implements kv.DB. If sound is true, it writes the clean mark, so that the next Open doesn't compare the file
// with the disk.
func (db *DB) Close(sound bool) error {
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	if !db.closed && db.identity != nil {
		db.updateCleanMark(sound)
	}
	db.closed = true
	return db.bolt.Close()
}

// updateCleanMark writes the clean mark, or removes it if sound is false. Errors are ignored, because without a mark
// the next Open just compares the file with the disk.
func (db *DB) updateCleanMark(sound bool) {
	path := db.file.Name() + pagecache.CleanMarkSuffix
	switch {
	case !sound:
	case db.markRemoved || db.isNew || !db.atOpen.Clean:
		// Sync also reports errors of earlier background writes.
		if db.bolt.Sync() == nil && pagecache.WriteCleanMark(db.file) == nil {
			return
		}
	default:
		return // the mark of the session before is still right
	}
	_ = os.Remove(path) // if this fails, the truncated or outdated mark is still invalid
}

// removeCleanMark removes the clean mark before the first write of a session. The caller must hold db.writeMu.
func (db *DB) removeCleanMark() error {
	if db.markRemoved {
		return nil
	}
	err := removeDurably(db.bolt.Path() + pagecache.CleanMarkSuffix)
	db.markRemoved = err == nil
	return err
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

// Available implements kv.DB. Possible reasons are that the directory was moved or
// the disk was unmounted. The open file would still be writable, but the files next to it can't be found. Once the same
// file is back, Available returns nil again.
func (db *DB) Available() error {
	if db.identity == nil {
		return nil
	}
	switch info, err := os.Stat(db.identity.path); {
	case err != nil:
		return fmt.Errorf("%w: %w", kv.ErrGone, err)
	case !os.SameFile(info, db.identity.info):
		return fmt.Errorf("%w: %s is another file", kv.ErrReplaced, db.identity.path)
	}
	return nil
}

// check implements kv.Check.
type check struct {
	transaction
	contents io.ReaderAt
	length   int64
}

// BeginCheck implements kv.DB. Later commits don't overwrite the pages that the transaction uses, except for the two
// meta pages. BeginCheck copies those while no commit can run.
func (db *DB) BeginCheck(ctx context.Context) (kv.Check, error) {
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	if err := db.checkOpen(ctx); err != nil {
		return nil, err
	}
	info, err := db.file.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, 2*db.bolt.Info().PageSize)
	n, err := pagecache.ReadFull(db.file.ReadAt, head, 0)
	if err != nil {
		return nil, err
	}
	tx, err := db.bolt.Begin(false)
	if err != nil {
		return nil, fmt.Errorf("begin transaction: %w", err)
	}
	return &check{transaction{db: db, tx: tx}, &headCachedFile{head: head[:n], rest: db.file}, info.Size()}, nil
}

// checkOpen returns nil if the database can be checked: it isn't closed, and its file is where it was opened. The
// caller must hold db.writeMu.
func (db *DB) checkOpen(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.closed {
		return kv.ErrClosed
	}
	return db.Available()
}

// Tx implements kv.Check.
func (c *check) Tx() kv.Tx { return &c.transaction }

// End implements kv.Check.
func (c *check) End() error { return c.Rollback() }

// Stored implements kv.Check.
func (c *check) Stored(_ context.Context, report func(subject, problem string)) (readable bool, err error) {
	return checkPages(c.contents, c.length, report)
}

// headCachedFile is a file whose first bytes were read earlier and are returned from
// memory.
type headCachedFile struct {
	head []byte
	rest io.ReaderAt
}

func (f *headCachedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.rest.ReadAt(p, at)
	if at < int64(len(f.head)) {
		copy(p[:n], f.head[at:])
	}
	return n, err
}

// CheckOrder implements kv.DB with bbolt's own check.
func (db *DB) CheckOrder(ctx context.Context, report func(error)) error {
	db.writeMu.Lock()
	defer db.writeMu.Unlock()
	if err := db.checkOpen(ctx); err != nil {
		return err
	}
	return db.bolt.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			report(err)
		}
		return nil
	})
}
