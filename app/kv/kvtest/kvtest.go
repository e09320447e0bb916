// Package kvtest tests engines of app/kv: every engine has to pass Run.
package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"deedkeep/app/kv"
)

// Database opens one database.
type Database struct {
	// Open opens the database. If it doesn't exist, fill writes its first contents.
	Open func(ctx context.Context, fill func(kv.Tx) error) (kv.DB, error)
	// OpenCopy opens what Tx.Copy wrote to a file.
	OpenCopy func(path string) (kv.DB, error)
}

var bucketName = []byte("records")

// Run tests an engine. newDatabase returns a database that doesn't exist.
func Run(t *testing.T, newDatabase func(*testing.T) Database) {
	for name, test := range map[string]func(*testing.T, Database){
		"keys": testKeys, "model": testModel, "isolation": testIsolation, "buckets": testBuckets, "copy": testCopy, "closed": testClosed,
		"canceled": testCanceled, "writers": testWriters, "reopen": testReopen,
	} {
		t.Run(name, func(t *testing.T) { test(t, newDatabase(t)) })
	}
}

func open(t *testing.T, d Database) kv.DB {
	t.Helper()
	db, err := d.Open(t.Context(), func(tx kv.Tx) error { return tx.CreateBucket(t.Context(), bucketName) })
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(true); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

// within calls fn with the bucket in a transaction, and commits it if write is set.
func within(t *testing.T, db kv.DB, write bool, fn func(kv.Tx, kv.Bucket) error) {
	t.Helper()
	tx, err := db.Begin(t.Context(), write)
	if err != nil {
		t.Fatalf("Begin(%v): %v", write, err)
	}
	b, err := tx.Bucket(t.Context(), bucketName)
	if err == nil {
		err = fn(tx, b)
	}
	if err == nil && write {
		err = tx.Commit(t.Context())
	}
	if err := errors.Join(err, tx.Rollback()); err != nil {
		t.Fatalf("transaction: %v", err)
	}
}

func put(t *testing.T, db kv.DB, entries ...string) {
	t.Helper()
	within(t, db, true, func(_ kv.Tx, b kv.Bucket) (err error) {
		for _, e := range entries {
			err = errors.Join(err, b.Put(t.Context(), []byte(e), []byte("value of "+e)))
		}
		return err
	})
}

// keys returns the keys of a bucket.
func keys(t *testing.T, b kv.Bucket) (list []string) {
	t.Helper()
	c, err := b.Cursor(t.Context(), 10)
	if err != nil {
		t.Fatalf("Cursor: %v", err)
	}
	key, _, err := c.First(t.Context())
	for ; err == nil && key != nil; key, _, err = c.Next(t.Context()) {
		list = append(list, string(key))
	}
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return list
}

func testKeys(t *testing.T, d Database) {
	ctx, db := t.Context(), open(t, d)
	put(t, db, "b", "d", "\x00", "\xff\xff")
	within(t, db, true, func(_ kv.Tx, b kv.Bucket) error {
		n, err := b.Sequence(ctx)
		if n != 0 || err != nil {
			t.Errorf("Sequence() = %d, %v; want 0", n, err)
		}
		return errors.Join(b.SetSequence(ctx, 7), b.Delete(ctx, []byte("missing")), b.Append(ctx, []byte("f"), nil))
	})
	within(t, db, false, func(_ kv.Tx, b kv.Bucket) error {
		if n, err := b.Sequence(ctx); n != 7 || err != nil {
			t.Errorf("Sequence() = %d, %v; want 7", n, err)
		}
		values, err := b.GetBatch(ctx, [][]byte{[]byte("d"), []byte("c"), []byte("b"), []byte("f")})
		if err != nil || len(values) != 4 || string(values[0]) != "value of d" || values[1] != nil || string(values[2]) != "value of b" ||
			values[3] == nil || len(values[3]) > 0 {
			t.Errorf("GetBatch() = %q, %v; want the values of d and b, and an empty one of f", values, err)
		}
		c, err := b.Cursor(ctx, 0)
		if err != nil {
			return err
		}
		for _, step := range []struct {
			name string
			move func() (key, value []byte, err error)
			want string
		}{
			{"Seek(c)", func() ([]byte, []byte, error) { return c.Seek(ctx, []byte("c")) }, "d"},
			{"Prev", func() ([]byte, []byte, error) { return c.Prev(ctx) }, "b"},
			{"Prev", func() ([]byte, []byte, error) { return c.Prev(ctx) }, "\x00"},
			{"Seek(d)", func() ([]byte, []byte, error) { return c.Seek(ctx, []byte("d")) }, "d"},
			{"Next", func() ([]byte, []byte, error) { return c.Next(ctx) }, "f"},
			{"Last", func() ([]byte, []byte, error) { return c.Last(ctx) }, "\xff\xff"},
			{"First", func() ([]byte, []byte, error) { return c.First(ctx) }, "\x00"},
			{"Seek after the end", func() ([]byte, []byte, error) { return c.Seek(ctx, []byte("\xff\xff\xff")) }, ""},
		} {
			if key, _, err := step.move(); string(key) != step.want || err != nil || step.want == "" && key != nil {
				t.Errorf("%s = %q, %v; want %q", step.name, key, err, step.want)
			}
		}
		return nil
	})
}

// testModel compares the database with a map.
func testModel(t *testing.T, d Database) {
	ctx, db := t.Context(), open(t, d)
	rng, want := rand.New(rand.NewPCG(1, 2)), map[string]string{} // #nosec G404 -- the same keys in each run
	for round := range 20 {
		within(t, db, true, func(_ kv.Tx, b kv.Bucket) (err error) {
			for range 200 {
				key := fmt.Sprintf("%03d", rng.IntN(400))
				if rng.IntN(3) == 0 {
					delete(want, key)
					err = errors.Join(err, b.Delete(ctx, []byte(key)))
					continue
				}
				want[key] = fmt.Sprint(round)
				err = errors.Join(err, b.Put(ctx, []byte(key), []byte(want[key])))
				if value, e := b.Get(ctx, []byte(key)); e != nil || string(value) != want[key] {
					t.Errorf("Get(%s) = %q, %v in the transaction that wrote %s", key, value, e, want[key])
				}
			}
			return err
		})
		within(t, db, false, func(_ kv.Tx, b kv.Bucket) error {
			list := keys(t, b)
			if len(list) != len(want) || !slices.IsSorted(list) {
				t.Errorf("%d keys, want %d, sorted", len(list), len(want))
			}
			for _, key := range list {
				if value, err := b.Get(ctx, []byte(key)); err != nil || string(value) != want[key] {
					t.Errorf("Get(%s) = %q, %v; want %q", key, value, err, want[key])
				}
			}
			return nil
		})
	}
}

// testIsolation checks that readers see one state, and nothing of a transaction that was rolled back.
func testIsolation(t *testing.T, d Database) {
	ctx, db := t.Context(), open(t, d)
	put(t, db, "a")
	reader, err := db.Begin(ctx, false)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	put(t, db, "b")
	tx, err := db.Begin(ctx, true)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	b, err := tx.Bucket(ctx, bucketName)
	if err != nil {
		t.Fatalf("Bucket: %v", err)
	}
	if err := errors.Join(b.Put(ctx, []byte("c"), nil), b.Delete(ctx, []byte("a")), tx.Rollback(), tx.Rollback()); err != nil {
		t.Fatalf("roll back: %v", err)
	}
	old, err := reader.Bucket(ctx, bucketName)
	if err != nil {
		t.Fatalf("Bucket: %v", err)
	}
	if got := keys(t, old); !slices.Equal(got, []string{"a"}) {
		t.Errorf("an earlier reader sees %q, want a", got)
	}
	if err := reader.Rollback(); err != nil {
		t.Errorf("Rollback: %v", err)
	}
	within(t, db, false, func(_ kv.Tx, b kv.Bucket) error {
		if got := keys(t, b); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("a later reader sees %q, want a and b", got)
		}
		return nil
	})
}

func testBuckets(t *testing.T, d Database) {
	ctx, db, other := t.Context(), open(t, d), []byte("other")
	put(t, db, "a")
	within(t, db, true, func(tx kv.Tx, _ kv.Bucket) error {
		if _, err := tx.Bucket(ctx, other); !errors.Is(err, kv.ErrNoBucket) {
			t.Errorf("Bucket() = %v, want %v", err, kv.ErrNoBucket)
		}
		if err := tx.DeleteBucket(ctx, other); !errors.Is(err, kv.ErrNoBucket) {
			t.Errorf("DeleteBucket() = %v, want %v", err, kv.ErrNoBucket)
		}
		if err := tx.CreateBucket(ctx, bucketName); err == nil {
			t.Error("CreateBucket() of an existing bucket = nil, want an error")
		}
		return errors.Join(tx.CreateBucket(ctx, other), tx.DeleteBucket(ctx, bucketName), tx.CreateBucket(ctx, bucketName))
	})
	within(t, db, false, func(tx kv.Tx, b kv.Bucket) error {
		if got := keys(t, b); len(got) > 0 {
			t.Errorf("a bucket that was created again has %q, want nothing", got)
		}
		_, err := tx.Bucket(ctx, other)
		return err
	})
}

// testCopy checks a copy, and the database itself, while it is written.
func testCopy(t *testing.T, d Database) {
	ctx, db := t.Context(), open(t, d)
	for n := range 500 {
		put(t, db, fmt.Sprint(n))
	}
	path := filepath.Join(t.TempDir(), "copy")
	within(t, db, false, func(tx kv.Tx, _ kv.Bucket) error {
		put(t, db, "later")
		var out bytes.Buffer
		return errors.Join(tx.Copy(ctx, &out), os.WriteFile(path, out.Bytes(), 0o600))
	})
	dup, err := d.OpenCopy(path)
	if err != nil {
		t.Fatalf("OpenCopy: %v", err)
	}
	within(t, dup, false, func(_ kv.Tx, b kv.Bucket) error {
		if got := keys(t, b); len(got) != 500 {
			t.Errorf("the copy has %d keys, want 500", len(got))
		}
		return nil
	})
	for name, db := range map[string]kv.DB{"database": db, "copy": dup} {
		c, err := db.BeginCheck(ctx)
		if err != nil {
			t.Fatalf("%s: BeginCheck: %v", name, err)
		}
		readable, err := c.Stored(ctx, func(subject, problem string) { t.Errorf("%s: %s: %s", name, subject, problem) })
		err = errors.Join(err, c.End(), db.CheckOrder(ctx, func(problem error) { t.Errorf("%s: %v", name, problem) }))
		if err != nil || !readable || db.Size() == 0 || db.Available() != nil {
			t.Errorf("%s: readable %v, %v, %d bytes, %v; want an intact database", name, readable, err, db.Size(), db.Available())
		}
	}
	if err := dup.Close(false); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func testClosed(t *testing.T, d Database) {
	db := open(t, d)
	if err := errors.Join(db.Close(true), db.Close(true)); err != nil {
		t.Errorf("Close: %v", err)
	}
	for _, write := range []bool{false, true} {
		if _, err := db.Begin(t.Context(), write); !errors.Is(err, kv.ErrClosed) {
			t.Errorf("Begin(%v) = %v, want %v", write, err, kv.ErrClosed)
		}
	}
	if _, err := db.BeginCheck(t.Context()); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("BeginCheck() = %v, want %v", err, kv.ErrClosed)
	}
	if err := db.CheckOrder(t.Context(), func(error) {}); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("CheckOrder() = %v, want %v", err, kv.ErrClosed)
	}
}

func testCanceled(t *testing.T, d Database) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	db := open(t, d)
	_, read := db.Begin(ctx, false)
	_, write := db.Begin(ctx, true)
	_, check := db.BeginCheck(ctx)
	for name, err := range map[string]error{"Begin(false)": read, "Begin(true)": write, "BeginCheck": check,
		"CheckOrder": db.CheckOrder(ctx, func(error) {})} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %v, want %v", name, err, context.Canceled)
		}
	}
	put(t, db, "a") // no lock is held
}

// testWriters checks that write transactions take turns.
func testWriters(t *testing.T, d Database) {
	ctx, db := t.Context(), open(t, d)
	var group sync.WaitGroup
	const writers, rounds = 8, 20
	for range writers {
		group.Go(func() {
			for range rounds {
				within(t, db, true, func(_ kv.Tx, b kv.Bucket) error {
					n, err := b.Sequence(ctx)
					return errors.Join(err, b.SetSequence(ctx, n+1))
				})
			}
		})
	}
	group.Wait()
	within(t, db, false, func(_ kv.Tx, b kv.Bucket) error {
		if n, err := b.Sequence(ctx); n != writers*rounds || err != nil {
			t.Errorf("Sequence() = %d, %v; want %d", n, err, writers*rounds)
		}
		return nil
	})
}

// testReopen checks that a committed change is there after the database was closed.
func testReopen(t *testing.T, d Database) {
	for n := range 3 {
		db := open(t, d)
		if state := db.AtOpen(); !state.Clean || state.WriteError != nil {
			t.Errorf("AtOpen() = %+v after Close(true), want a clean state", state)
		}
		put(t, db, fmt.Sprint(n))
		within(t, db, false, func(_ kv.Tx, b kv.Bucket) error {
			if got := keys(t, b); len(got) != n+1 {
				t.Errorf("%d keys, want %d", len(got), n+1)
			}
			return nil
		})
		if err := db.Close(true); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
}
