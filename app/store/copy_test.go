package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/kv"
	"deedkeep/app/model"
)

// A LiveCopy reads a consistent snapshot while commits continue, even though both meta pages
// change.
func TestLiveCopyDuringCommits(t *testing.T) {
	s := openNew(t)
	fill(t, s, 200)
	c := s.LiveCopy()
	commits := 0
	err := c.beginCheck(t.Context(), func(tx *Tx, check kv.Check) error {
		want := tx.Count(CountOrders)
		for ; commits < 5; commits++ {
			update(t, s, func(tx *Tx) error {
				id, err := tx.NewOrderID()
				if err != nil {
					return err
				}
				return tx.PutOrder(model.Order{ID: id, Number: fmt.Sprint("L-", id), Status: "active", CreatedAt: testTime})
			})
		}
		valid, err := check.Stored(t.Context(), func(subject, problem string) { t.Errorf("%s: %s", subject, problem) })
		if got := tx.Count(CountOrders); err != nil || !valid || got != want {
			t.Errorf("got valid %v, %v, %d orders; want %d", valid, err, got, want)
		}
		return nil
	})
	if err != nil || commits != 5 {
		t.Fatalf("got %d commits, %v; want 5", commits, err)
	}
	report := func(f Finding) { t.Errorf("got finding %+v, want none", f) }
	if summary, err := c.Check(t.Context(), report); err != nil || summary.Files != 200 || summary.Corrupt {
		t.Errorf("got %+v, %v; want 200 files", summary, err)
	}
	if err := c.Close(); err != nil {
		t.Fatalf("close copy: %v", err)
	}
	view(t, s, func(*Tx) error { return nil }) // closing the copy didn't close the store
}

func TestCheckOfClosedStore(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	if _, err := s.LiveCopy().Check(t.Context(), func(Finding) {}); errs.KindOf(err) != errs.Unavailable {
		t.Errorf("Check() = %v of a closed store, want errs.Unavailable", err)
	}
}

// EachDigest reads files in batches but passes all files with the same digest together.
func TestEachDigestInBatches(t *testing.T) {
	s := openNew(t)
	want := map[int]int{0: 1, 1: digestBatch + 7, 2: 1, 3: 3}
	for n := 10; n < 10+digestBatch; n++ {
		want[n] = 1
	}
	update(t, s, func(tx *Tx) error {
		for n, files := range want {
			for range files {
				id, err := tx.NewFileID()
				if err != nil {
					return err
				}
				if err := tx.PutFile(model.File{ID: id, Size: 1, Digest: digest(n), CreatedAt: testTime}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	got := map[string]int{}
	err := s.LiveCopy().EachDigest(func(d [32]byte, files []model.File) error {
		if got[fmt.Sprintf("%x", d)] > 0 {
			t.Errorf("got digest %x twice, want it once", d)
		}
		got[fmt.Sprintf("%x", d)] = len(files)
		return nil
	})
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d digests, %v; want %d", len(got), err, len(want))
	}
	for n, files := range want {
		if got[digest(n)] != files {
			t.Errorf("%d: got %d files, want %d", n, got[digest(n)], files)
		}
	}
}

// countedTx counts how many times a transaction is ended.
type countedTx struct {
	kv.Tx
	ended int
}

func (t *countedTx) Rollback() error {
	t.ended++
	return nil
}

// A read transaction ends even if its function ends the goroutine, as t.Fatal does, or panics.
func TestViewEndsTransaction(t *testing.T) {
	for name, fn := range map[string]func(*Tx) error{
		"returns": func(*Tx) error { return nil }, "panics": func(*Tx) error { panic("x") },
		"ends the goroutine": func(*Tx) error { runtime.Goexit(); return nil },
	} {
		tx, done := &countedTx{}, make(chan error, 1)
		go func() {
			defer close(done)
			done <- runView(tx, &Tx{}, fn)
		}()
		if err := <-done; (err != nil) != (name == "panics") {
			t.Errorf("%s: got error %v, want one only after a panic", name, err)
		}
		if tx.ended != 1 {
			t.Errorf("%s: the transaction was ended %d times, want 1", name, tx.ended)
		}
	}
}
