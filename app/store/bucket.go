package store

import (
	"bytes"
	"errors"
	"fmt"

	"deedkeep/app/kv"
)

// readError is a panic that ends a transaction in which the database can't be read. RecoverPanic returns err. A missing
// value would be mistaken for a record that doesn't exist.
type readError struct{ err error }

// read returns v. If err isn't nil, it panics with a readError.
func read[T any](v T, err error) T {
	if err != nil {
		panic(readError{err})
	}
	return v
}

// RecoverPanic runs fn and converts a panic, a memory fault, or a readError into an error.
func RecoverPanic(fn func() error) error {
	err := kv.RecoverPanic(fn)
	if p, ok := errors.AsType[*kv.PanicError](err); ok {
		if e, ok := p.Reason.(readError); ok {
			return e.err
		}
	}
	return err
}

// bucket is a bucket in a transaction. Its methods that return no error end the transaction with a readError.
type bucket struct {
	t    *Tx
	name []byte
	kv   kv.Bucket
}

// bucket returns a bucket.
func (t *Tx) bucket(name []byte) *bucket {
	for _, b := range t.buckets {
		if &b.name[0] == &name[0] || bytes.Equal(b.name, name) {
			return b
		}
	}
	b, err := t.tx.Bucket(t.ctx, name)
	if errors.Is(err, kv.ErrNoBucket) {
		err = &kv.DamageError{Message: fmt.Sprintf("the bucket %s is missing", name), Err: err}
	}
	t.buckets = append(t.buckets, &bucket{t, name, read(b, err)})
	return t.buckets[len(t.buckets)-1]
}

// hasBucket reports whether a bucket exists.
func (t *Tx) hasBucket(name []byte) bool {
	_, err := t.tx.Bucket(t.ctx, name)
	if errors.Is(err, kv.ErrNoBucket) {
		return false
	}
	return read(true, err)
}

// value returns the value of a key, or nil if there is none.
func (t *Tx) value(name, key []byte) []byte { return t.bucket(name).Get(key) }

// createBucket creates a bucket.
func (t *Tx) createBucket(name []byte) error {
	if err := t.tx.CreateBucket(t.ctx, name); err != nil {
		return fmt.Errorf("create bucket %s: %w", name, err)
	}
	return nil
}

// deleteBucket deletes a bucket if it exists.
func (t *Tx) deleteBucket(name []byte) error {
	t.buckets = nil
	if err := t.tx.DeleteBucket(t.ctx, name); err != nil && !errors.Is(err, kv.ErrNoBucket) {
		return fmt.Errorf("clear bucket %s: %w", name, err)
	}
	return nil
}

// Get returns the value of a key, or nil if there is none.
func (b *bucket) Get(key []byte) []byte { return read(b.kv.Get(b.t.ctx, key)) }

// Put sets the value of a key.
func (b *bucket) Put(key, value []byte) error { return b.kv.Put(b.t.ctx, key, value) }

// Append is like Put for keys that are usually the last ones of the bucket.
func (b *bucket) Append(key, value []byte) error { return b.kv.Append(b.t.ctx, key, value) }

// Delete removes a key if it exists.
func (b *bucket) Delete(key []byte) error { return b.kv.Delete(b.t.ctx, key) }

// Sequence returns the bucket's number.
func (b *bucket) Sequence() uint64 { return read(b.kv.Sequence(b.t.ctx)) }

// SetSequence sets the bucket's number.
func (b *bucket) SetSequence(n uint64) error { return b.kv.SetSequence(b.t.ctx, n) }

// Cursor returns a cursor before the first key.
func (b *bucket) Cursor() cursor { return cursor{b.t, read(b.kv.Cursor(b.t.ctx, 0))} }

// cursor moves over the keys of a bucket. A key of nil means that there are no more keys.
type cursor struct {
	t  *Tx
	kv kv.Cursor
}

// moved returns the entry that a cursor moved to.
func moved(key, value []byte, err error) (k, v []byte) { return read(key, err), value }

func (c cursor) First() (key, value []byte) { return moved(c.kv.First(c.t.ctx)) }

func (c cursor) Last() (key, value []byte) { return moved(c.kv.Last(c.t.ctx)) }

func (c cursor) Seek(key []byte) (k, value []byte) { return moved(c.kv.Seek(c.t.ctx, key)) }

func (c cursor) Next() (key, value []byte) { return moved(c.kv.Next(c.t.ctx)) }

func (c cursor) Prev() (key, value []byte) { return moved(c.kv.Prev(c.t.ctx)) }
