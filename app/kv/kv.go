// Package kv defines what app/store needs of a database: buckets of ordered keys, with one writer at a time and any
// number of readers, each of which sees one state. Engines are in subpackages.
//
// Each method that may reach a disk or a network takes a context and returns an error. Key and value slices that a
// transaction returns are valid until it ends and must not be changed. Key and value slices that it is passed must
// not be changed until it ends.
package kv

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	// ErrClosed means that the database is closed.
	ErrClosed = errors.New("the database is closed")
	// ErrNoBucket means that a bucket doesn't exist.
	ErrNoBucket = errors.New("the bucket is missing")
	// ErrNotCommitted means that nothing was committed, and that the next write transaction may succeed.
	ErrNotCommitted = errors.New("nothing was committed")
	// ErrGone is in the chain of errors of DB.Available if the database was moved or isn't reachable.
	ErrGone = errors.New("the database is no longer where it was opened")
	// ErrReplaced is in the chain of errors of DB.Available if another database is in its place.
	ErrReplaced = errors.New("the database was replaced")
)

// DamageError means that what the database has stored is damaged.
type DamageError struct {
	Message string // phrase for users
	Err     error
}

func (e *DamageError) Error() string { return e.Err.Error() }

func (e *DamageError) Unwrap() error { return e.Err }

// DB is an open database. Its methods are safe for concurrent use.
type DB interface {
	// Begin starts a transaction. A write transaction waits for the end of the previous one. The error is ErrClosed
	// after Close.
	Begin(ctx context.Context, write bool) (Tx, error)
	// BeginCheck starts a read transaction whose stored form can be checked. It and CheckOrder return ErrClosed after
	// Close.
	BeginCheck(ctx context.Context) (Check, error)
	// RemoveUnfinished removes files that the interrupted creation of a database or of a copy beside it left behind.
	RemoveUnfinished()
	// CheckOrder reports problems in the order of the keys and in the use of the space. Write transactions wait until
	// it returns. Call it only after Check.Stored has found that the database is readable.
	CheckOrder(ctx context.Context, report func(problem error)) error
	// Available returns nil if the database is where it was opened, or else ErrGone or ErrReplaced. Then writes would be
	// lost to other processes.
	Available() error
	// AtOpen returns what was found when the database was opened.
	AtOpen() OpenState
	// Path returns the path of the database's file.
	Path() string
	// Size returns the size of the database in bytes, or 0 after Close.
	Size() int64
	// Close closes the database after all transactions have ended. If sound is true, all commits have succeeded, and
	// the next Open trusts what the operating system has cached. Later calls do nothing.
	Close(sound bool) error
}

// OpenState is what was found when a database was opened: if the last session didn't close it cleanly, what the
// operating system has cached of the database is compared with the disk.
type OpenState struct {
	Clean      bool          // the last session closed cleanly or the database is new, so nothing was compared
	SkipReason string        // why the comparison wasn't possible; "" if it was
	LostWrites error         // error from syncing data that the previous session left in the cache; that data was dropped
	WriteError error         // error from the test write; if set, the database must not be written to
	Elapsed    time.Duration // duration of the comparison
}

// Tx is a transaction. It may be used by one goroutine at a time.
type Tx interface {
	// Bucket returns a bucket. The error is ErrNoBucket if it doesn't exist.
	Bucket(ctx context.Context, name []byte) (Bucket, error)
	CreateBucket(ctx context.Context, name []byte) error
	// DeleteBucket deletes a bucket with its contents. The error is ErrNoBucket if it doesn't exist.
	DeleteBucket(ctx context.Context, name []byte) error
	// Commit makes the changes durable and ends the transaction. If the error is ErrNotCommitted or means that the disk
	// is full, the previous state remains intact. After any other error, it isn't known what was stored.
	Commit(ctx context.Context) error
	// Rollback ends the transaction without changes. After Commit it does nothing.
	Rollback() error
	// Copy writes the state that a read transaction sees, in the form that Open reads.
	Copy(ctx context.Context, w io.Writer) error
}

// Bucket is a set of keys with values, sorted by the bytes of the keys.
type Bucket interface {
	// Get returns the value of a key, or nil if there is none.
	Get(ctx context.Context, key []byte) ([]byte, error)
	// GetBatch returns the values of the keys in their order, nil for each that doesn't exist.
	GetBatch(ctx context.Context, keys [][]byte) ([][]byte, error)
	Put(ctx context.Context, key, value []byte) error
	// Append is like Put for keys that are usually the last ones of the bucket, which takes less space.
	Append(ctx context.Context, key, value []byte) error
	// Delete removes a key if it exists.
	Delete(ctx context.Context, key []byte) error
	// Cursor returns a cursor before the first key. prefetch is the number of entries that will probably be read, or
	// 0 if that isn't known; an engine across a network reads that many at a time.
	Cursor(ctx context.Context, prefetch int) (Cursor, error)
	// Sequence returns the bucket's number, which is 0 in a new bucket.
	Sequence(ctx context.Context) (uint64, error)
	SetSequence(ctx context.Context, n uint64) error
}

// Cursor moves over the keys of a bucket. Each method returns the key and value at its new place, or nil as the key
// if there is none. A cursor is valid until the bucket is changed.
type Cursor interface {
	First(ctx context.Context) (key, value []byte, err error)
	Last(ctx context.Context) (key, value []byte, err error)
	// Seek moves to a key, or to the next one if it doesn't exist.
	Seek(ctx context.Context, key []byte) (k, value []byte, err error)
	Next(ctx context.Context) (key, value []byte, err error)
	Prev(ctx context.Context) (key, value []byte, err error)
}

// Check is a read transaction whose stored form can be checked.
type Check interface {
	// Tx returns the transaction. The caller must not end it.
	Tx() Tx
	// Stored checks how the state that Tx sees is stored. If readable is false, it must not be read through Tx. The
	// error says that the check itself failed.
	Stored(ctx context.Context, report func(subject, problem string)) (readable bool, err error)
	// End ends the transaction.
	End() error
}
