package boltkv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"deedkeep/app/kv"
)

// transaction implements kv.Tx.
type transaction struct {
	db    *DB
	tx    *bolt.Tx
	ended bool
}

// end releases the lock of a write transaction.
func (t *transaction) end(write bool) {
	if !t.ended && write {
		t.db.writeMu.Unlock()
	}
	t.ended = true
}

// Commit implements kv.Tx. bbolt writes data pages to free space before it writes the meta page that makes them
// current, so if the disk is full, the previous state remains intact. After any other error, it is unknown which data
// reached the disk, and a later successful fsync doesn't prove that it did.
func (t *transaction) Commit(context.Context) (err error) {
	defer t.end(t.tx.Writable())
	if err := t.db.removeCleanMark(); err != nil {
		if !errors.Is(err, errSyncFailed) {
			err = fmt.Errorf("start write transaction: %w: %w", kv.ErrNotCommitted, err)
		}
		return errors.Join(err, t.tx.Rollback())
	}
	if err = kv.RecoverPanic(t.tx.Commit); err != nil {
		// If Commit panicked because of a damaged page, bbolt's locks are still held and would block Close. If Commit
		// returned, Rollback returns ErrTxClosed, which is ignored.
		_ = kv.RecoverPanic(t.tx.Rollback)
	}
	return err
}

// Rollback implements kv.Tx.
func (t *transaction) Rollback() error {
	if t.ended {
		return nil
	}
	write := t.tx.Writable()
	defer t.end(write)
	if err := t.tx.Rollback(); err != nil {
		return fmt.Errorf("roll back transaction: %w", err)
	}
	return nil
}

// Bucket implements kv.Tx.
func (t *transaction) Bucket(_ context.Context, name []byte) (kv.Bucket, error) {
	b := t.tx.Bucket(name)
	if b == nil {
		return nil, kv.ErrNoBucket
	}
	if b.FillPercent == bolt.DefaultFillPercent {
		b.FillPercent = 0.6 // keys in random places need less free space than that
	}
	return &bucket{b: b, reads: !t.tx.Writable()}, nil
}

// CreateBucket implements kv.Tx.
func (t *transaction) CreateBucket(_ context.Context, name []byte) error {
	_, err := t.tx.CreateBucket(name)
	return err
}

// DeleteBucket implements kv.Tx.
func (t *transaction) DeleteBucket(_ context.Context, name []byte) error {
	err := t.tx.DeleteBucket(name)
	if errors.Is(err, berrors.ErrBucketNotFound) {
		return kv.ErrNoBucket
	}
	return err
}

// Copy implements kv.Tx.
func (t *transaction) Copy(ctx context.Context, w io.Writer) error {
	out := &ctxWriter{ctx: ctx, w: w}
	_, err := t.tx.WriteTo(out)
	return errors.Join(err, out.err) // bbolt formats some errors without wrapping them
}

// ctxWriter is a writer that fails when its context is canceled.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
	err error // last error
}

func (c *ctxWriter) Write(p []byte) (n int, err error) {
	if c.err = c.ctx.Err(); c.err != nil {
		return 0, c.err
	}
	n, c.err = c.w.Write(p)
	return n, c.err
}

// bucket implements kv.Bucket.
type bucket struct {
	b     *bolt.Bucket
	reads bool         // in a read transaction
	get   *bolt.Cursor // used by Get of a read transaction; nil until then
}

// Get implements kv.Bucket. bbolt's own Get allocates a cursor for each key.
func (b *bucket) Get(_ context.Context, key []byte) ([]byte, error) {
	if !b.reads {
		return b.b.Get(key), nil
	}
	if b.get == nil {
		b.get = b.b.Cursor()
	}
	if k, value := b.get.Seek(key); bytes.Equal(k, key) {
		return value, nil
	}
	return nil, nil
}

// GetBatch implements kv.Bucket.
func (b *bucket) GetBatch(ctx context.Context, keys [][]byte) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, key := range keys {
		values[i], _ = b.Get(ctx, key)
	}
	return values, nil
}

// Put implements kv.Bucket.
func (b *bucket) Put(_ context.Context, key, value []byte) error { return b.b.Put(key, value) }

// Append implements kv.Bucket. If keys are always appended, the free space in full pages would never be used.
func (b *bucket) Append(_ context.Context, key, value []byte) error {
	b.b.FillPercent = 0.9
	return b.b.Put(key, value)
}

// Delete implements kv.Bucket.
func (b *bucket) Delete(_ context.Context, key []byte) error { return b.b.Delete(key) }

// Sequence implements kv.Bucket.
func (b *bucket) Sequence(context.Context) (uint64, error) { return b.b.Sequence(), nil }

// SetSequence implements kv.Bucket.
func (b *bucket) SetSequence(_ context.Context, n uint64) error { return b.b.SetSequence(n) }

// Cursor implements kv.Bucket. The file is mapped into memory, so there is nothing to prefetch.
func (b *bucket) Cursor(context.Context, int) (kv.Cursor, error) { return cursor{b.b.Cursor()}, nil }

// cursor implements kv.Cursor.
type cursor struct{ c *bolt.Cursor }

func (c cursor) First(context.Context) (key, value []byte, err error) {
	key, value = c.c.First()
	return key, value, nil
}

func (c cursor) Last(context.Context) (key, value []byte, err error) {
	key, value = c.c.Last()
	return key, value, nil
}

func (c cursor) Seek(_ context.Context, key []byte) (k, value []byte, err error) {
	k, value = c.c.Seek(key)
	return k, value, nil
}

func (c cursor) Next(context.Context) (key, value []byte, err error) {
	key, value = c.c.Next()
	return key, value, nil
}

func (c cursor) Prev(context.Context) (key, value []byte, err error) {
	key, value = c.c.Prev()
	return key, value, nil
}
