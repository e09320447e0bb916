package store

import (
	"context"
	"errors"
	"testing"

	"deedkeep/app/kv"
)

var errUnreachable = errors.New("the database can't be reached")

// unreachable is a database whose buckets can't be read or written while fail is set.
type unreachable struct {
	kv.DB
	fail bool
}

func (u *unreachable) Begin(ctx context.Context, write bool) (kv.Tx, error) {
	tx, err := u.DB.Begin(ctx, write)
	return unreachableTx{tx, u}, err
}

type unreachableTx struct {
	kv.Tx
	db *unreachable
}

func (t unreachableTx) Bucket(ctx context.Context, name []byte) (kv.Bucket, error) {
	b, err := t.Tx.Bucket(ctx, name)
	return unreachableBucket{b, t.db}, err
}

type unreachableBucket struct {
	kv.Bucket
	db *unreachable
}

func (b unreachableBucket) Get(ctx context.Context, key []byte) ([]byte, error) {
	if b.db.fail {
		return nil, errUnreachable
	}
	return b.Bucket.Get(ctx, key)
}

func (b unreachableBucket) Put(ctx context.Context, key, value []byte) error {
	if b.db.fail {
		return errUnreachable
	}
	return b.Bucket.Put(ctx, key, value)
}

func (b unreachableBucket) Cursor(ctx context.Context, prefetch int) (kv.Cursor, error) {
	if b.db.fail {
		return nil, errUnreachable
	}
	return b.Bucket.Cursor(ctx, prefetch)
}

// A record that can't be read isn't mistaken for one that doesn't exist, and nothing of the change is committed.
func TestReadErrors(t *testing.T) {
	s := openNew(t)
	update(t, s, putAbstract)
	db := &unreachable{DB: s.db, fail: true}
	s.db = db
	for name, read := range map[string]func(*Tx) error{
		"a record":      func(tx *Tx) error { _, err := tx.Abstract(1); return err },
		"its existence": func(tx *Tx) error { _ = tx.OrderNumberTaken("A-1"); return nil },
		"a list":        func(tx *Tx) error { _, err := tx.ListAbstracts(Query{Limit: 9}); return err },
		"a counter":     func(tx *Tx) error { _ = tx.Count(CountAbstracts); return nil },
	} {
		if err := s.View(t.Context(), read); !errors.Is(err, errUnreachable) {
			t.Errorf("%s: View() = %v, want %v", name, err, errUnreachable)
		}
		if err := s.Update(t.Context(), read, putAbstract); !errors.Is(err, errUnreachable) {
			t.Errorf("%s: Update() = %v, want %v", name, err, errUnreachable)
		}
	}
	if err := s.Update(t.Context(), nil, putAbstract); !errors.Is(err, errUnreachable) {
		t.Errorf("Update() = %v, want %v", err, errUnreachable)
	}
	db.fail = false
	if n := countAbstracts(t, s); n != 1 || s.Failure() != nil {
		t.Errorf("%d abstracts, failure %v; want 1 and none", n, s.Failure())
	}
	update(t, s, putAbstract)
}
