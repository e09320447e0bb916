package boltkv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv/pagecache"
	"deedkeep/app/kv/kvtest"
)

func openNew(t testing.TB, fill func(kv.Tx) error) *DB {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "vault.db"), Options{Fill: fill})
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

func TestEngine(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kvtest.Database {
		path := filepath.Join(t.TempDir(), "vault.db")
		return kvtest.Database{
			Open: func(ctx context.Context, fill func(kv.Tx) error) (kv.DB, error) {
				return Open(ctx, path, Options{Fill: fill})
			},
			OpenCopy: func(path string) (kv.DB, error) { return OpenReadOnly(path, 0) },
		}
	})
}

// A check sees the meta pages of its own transaction, even though later commits replace both of them.
func TestCheckDuringCommits(t *testing.T) {
	name := []byte("b")
	db := openNew(t, func(tx kv.Tx) error { return tx.CreateBucket(t.Context(), name) })
	c, err := db.BeginCheck(t.Context())
	if err != nil {
		t.Fatalf("BeginCheck: %v", err)
	}
	for range 5 {
		if err := putOne(t, db, name); err != nil {
			t.Fatalf("commit: %v", err)
		}
	}
	metas, err := pagecache.ReadMetas(c.(*check).contents)
	if newest := pagecache.NewestMeta(metas).Transaction; err != nil || newest != uint64(BoltTx(c.Tx()).ID()) {
		t.Errorf("got transaction %d, %v; want %d", newest, err, BoltTx(c.Tx()).ID())
	}
	readable, err := c.Stored(t.Context(), func(subject, problem string) { t.Errorf("%s: %s", subject, problem) })
	if err := errors.Join(err, c.End()); err != nil || !readable {
		t.Errorf("Stored() = %v, %v; want readable", readable, err)
	}
}

// A copy ends when its context is canceled while it is written.
func TestCanceledCopy(t *testing.T) {
	db := openNew(t, func(kv.Tx) error { return nil })
	tx, err := db.Begin(t.Context(), false)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	err = tx.Copy(ctx, writerFunc(func(p []byte) (int, error) { cancel(); return out.Write(p) }))
	if err := errors.Join(err, tx.Rollback()); !errors.Is(err, context.Canceled) {
		t.Errorf("Copy() = %v after %d bytes, want %v", err, out.Len(), context.Canceled)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A database whose creation was interrupted, or whose first contents can't be written, leaves no file behind.
func TestUnfinishedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	failed := errors.New("no contents")
	if _, err := Open(t.Context(), path, Options{Fill: func(kv.Tx) error { return failed }}); !errors.Is(err, failed) {
		t.Errorf("Open() = %v, want %v", err, failed)
	}
	if names, err := filepath.Glob(path + "*"); err != nil || len(names) > 0 {
		t.Errorf("files %v, %v; want none", names, fmt.Sprint(err))
	}
}

// The clean mark is removed before the first commit writes anything: if that isn't possible, nothing is committed.
func TestCleanMarkThatCannotBeRemoved(t *testing.T) {
	name, path := []byte("b"), filepath.Join(t.TempDir(), "vault.db")
	db, err := Open(t.Context(), path, Options{Fill: func(tx kv.Tx) error { return tx.CreateBucket(t.Context(), name) }})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	obstacle := filepath.Join(path+pagecache.CleanMarkSuffix, "file")
	if err := os.MkdirAll(obstacle, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	if err := putOne(t, db, name); !errors.Is(err, kv.ErrNotCommitted) {
		t.Errorf("Commit() = %v, want %v", err, kv.ErrNotCommitted)
	}
	if err := os.RemoveAll(filepath.Dir(obstacle)); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	tx, err := db.Begin(t.Context(), false)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	b, err := tx.Bucket(t.Context(), name)
	if err != nil {
		t.Fatalf("Bucket: %v", err)
	}
	if value, err := b.Get(t.Context(), []byte("k")); value != nil || err != nil {
		t.Errorf("Get() = %q, %v after the failed commit, want nothing", value, err)
	}
	if err := errors.Join(tx.Rollback(), putOne(t, db, name), db.Close(true)); err != nil {
		t.Errorf("the next commit: %v", err)
	}
}

// putOne commits one key.
func putOne(t *testing.T, db *DB, bucket []byte) error {
	t.Helper()
	tx, err := db.Begin(t.Context(), true)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	b, err := tx.Bucket(t.Context(), bucket)
	if err != nil {
		t.Fatalf("Bucket: %v", err)
	}
	return errors.Join(b.Put(t.Context(), []byte("k"), []byte("v")), tx.Commit(t.Context()))
}
