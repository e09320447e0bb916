package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/kv/boltkv"
	"deedkeep/app/model"
)

func TestValues(t *testing.T) {
	for text, want := range map[string]columnValue{
		"":                    {},
		"   ":                 {},
		"New":                 {text: "new"},
		" ÉCOLE ":             {text: "école"},
		"12":                  {number: 12},
		"0":                   {text: "0"},
		"012":                 {text: "012"},
		"1 2":                 {text: "1 2"},
		"key:7":               {"key", 7},
		"KEY:7":               {"key", 7},
		"key:07":              {text: "key:07"},
		"key:":                {text: "key:"},
		":7":                  {text: ":7"},
		"a:b:7":               {text: "a:b:7"},
		"999999999999999999":  {number: 999999999999999999},
		"1000000000000000000": {text: "1000000000000000000"},
		"12x":                 {text: "12x"},
	} {
		if got := parseValue(text); got != want || got.String() != model.Fold(text) {
			t.Errorf("parseValue(%q) = %+v (%q), want %+v", text, got, got, want)
		}
	}
}

func TestFoldIsFold(t *testing.T) {
	for _, text := range []string{"", "A", " a B\t", "Straße", "STRASSE", "İ", "K", "\x00Z", "a\x85", "\u00a0x\u00a0", "caf\xe9", "\v\fQ\r"} {
		if fold(text) != model.Fold(text) {
			t.Errorf("%q: %q, want %q", text, fold(text), model.Fold(text))
		}
	}
}

func TestWords(t *testing.T) {
	tx := &Tx{}
	byHash := map[valueHash]columnValue{}
	for _, v := range []columnValue{{}, {text: "new"}, {number: 1}, {number: 2}, {"key", 1}, {"user", 1}, {number: 1<<40 - 1},
		{number: 1 << 40}, {"key", 1 << 50}} {
		w := tx.hashValue(v)
		if other, known := byHash[w]; known || (w == 0) != (v == columnValue{}) {
			t.Errorf("hashValue(%+v) = %x, the same as of %+v, want a unique one", v, w, other)
		}
		byHash[w] = v
	}
	if a, b := tx.hashValue(columnValue{"order", 255}), tx.hashValue(columnValue{"order", 256}); a+1 != b {
		t.Errorf("got hashes %x and %x, want consecutive ones", a, b)
	}
}

func TestTimesAndDaysSort(t *testing.T) {
	last := uint64(0)
	for _, at := range []time.Time{{}, time.Unix(-1, 0), time.Unix(0, 0), testTime, testTime.Add(time.Microsecond),
		testTime.Add(1e6 * time.Hour)} {
		if n := sortableMicros(at); n <= last || !timeFromMicros(n).Equal(at.Truncate(time.Microsecond)) {
			t.Errorf("sortableMicros(%v) = %x, want more than %x", at, n, last)
		} else {
			last = n
		}
	}
	last = 0
	for _, date := range []string{"0001-01-01", "1969-12-31", "1970-01-01", "2026-06-15", "9999-12-31", ""} {
		if n := sortableDays(date); n <= last {
			t.Errorf("sortableDays(%q) = %x, want more than %x", date, n, last)
		} else {
			last = n
		}
	}
}

// Changing a field that isn't part of any list doesn't write to an index.
func TestUnchangedIndexIsNotWritten(t *testing.T) {
	s := openNew(t)
	fillAll(t, s)
	fillMany(t, s)
	// bbolt writes a changed page and all of its parent pages to new places, so the root page of a
	// changed bucket is different.
	roots := func() (all [4]uint64) {
		view(t, s, func(tx *Tx) error {
			for i, name := range [][]byte{bucketOrderIndex, bucketOrders, bucketCounters, bucketCounts} {
				all[i] = uint64(boltkv.BoltTx(tx.tx).Bucket(name).Root())
			}
			return nil
		})
		return all
	}
	before := roots()
	update(t, s, func(tx *Tx) error {
		o, err := tx.Order(9)
		o.Address, o.Version = "1 Elm", 2
		return errors.Join(err, tx.PutOrder(o))
	})
	if after := roots(); after[0] != before[0] || after[1] == before[1] {
		t.Errorf("got roots %v, were %v; want the same index and other records", after, before)
	}
	before = roots()
	update(t, s, func(tx *Tx) error {
		o, err := tx.Order(9)
		o.County = "Albany"
		return errors.Join(err, tx.PutOrder(o))
	})
	if after := roots(); after[0] == before[0] {
		t.Errorf("root of the index after a column changed = %v, want another one", after[0])
	}
}

// Counts include uncommitted changes immediately, even for later members of the batch. They are
// stored only if the batch is committed.
func TestCountsWithinCommit(t *testing.T) {
	s := openNew(t)
	counts := func(want uint64) func(*Tx) error {
		return func(tx *Tx) error {
			if a, b := tx.Count(CountAbstracts), tx.CountBy("abstract", model.ColumnStatus, "new"); a != want || b != want {
				return fmt.Errorf("got %d abstracts, %d new; want %d", a, b, want)
			}
			return nil
		}
	}
	add := func(tx *Tx) error {
		id, err := tx.NewAbstractID()
		return errors.Join(err, tx.PutAbstract(model.Abstract{ID: id, Status: "New"}))
	}
	q := pauseWriter(t, s)
	q.add(t.Context(), counts(0), add)
	q.add(t.Context(), counts(1), add)
	q.add(t.Context(), counts(2), nil)
	for i, err := range q.release() {
		if err != nil {
			t.Errorf("member %d: %v", i, err)
		}
	}
	broken := errors.New("broken")
	if err := s.Update(t.Context(), nil, func(tx *Tx) error { return errors.Join(add(tx), counts(3)(tx), broken) }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	view(t, s, counts(2))
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.RemoveAbstract(1), tx.RemoveAbstract(2), counts(0)(tx))
	})
	view(t, s, func(tx *Tx) error {
		if k, _ := tx.bucket(bucketCounts).Cursor().First(); k != nil {
			t.Errorf("got a count for %q, want none", k)
		}
		return counts(0)(tx)
	})
}

// With any position, valid or not, the pages are in order and the list ends.
func FuzzPosition(f *testing.F) {
	s, err := Open(context.Background(), filepath.Join(f.TempDir(), "vault.db"), testOptions())
	if err != nil {
		f.Fatalf("open store: %v", err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Errorf("close store: %v", err)
		}
	})
	fillAll(f, s)
	var page Page[model.Order]
	view(f, s, func(tx *Tx) (err error) {
		page, err = tx.ListOrders(Query{Limit: 2, Sort: model.SortOrderNumber})
		return err
	})
	f.Add(page.Next, byte(1))
	f.Add([]byte{}, byte(255))
	f.Add(bytes.Repeat([]byte{255}, 17), byte(7))
	f.Fuzz(func(t *testing.T, position []byte, flags byte) {
		q := Query{Limit: 2, Position: position, Descending: flags&1 > 0, Backward: flags&2 > 0,
			Sort: []model.Sort{model.SortCreated, model.SortDue, model.SortOrderNumber, model.SortDue}[flags>>2&3]}
		if flags&16 > 0 {
			q.Filters = []Filter{{model.ColumnStatus, "active"}}
		}
		if flags&32 > 0 {
			q.MaxScanned = 1
		}
		view(t, s, func(tx *Tx) error {
			ids, err := orderModel.readPages(tx, q)
			if err != nil || len(ids) > 5 {
				t.Errorf("%+v: got %v, %v; want up to 5 records", q, ids, err)
			}
			return nil
		})
	})
}
