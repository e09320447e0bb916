package store

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deedkeep/app/model"
)

// scanChain verifies the complete audit log, reading limit entries at a time.
func scanChain(t *testing.T, s *Store, limit int) (c model.ChainVerifier, flaws []model.ChainDefect) {
	t.Helper()
	c.Report = func(f model.ChainDefect) { flaws = append(flaws, f) }
	var position []byte
	for {
		var log LogPage
		view(t, s, func(tx *Tx) error { log = tx.ScanLog(position, limit); return nil })
		for _, e := range log.Entries {
			c.Add(e.Seq, e.Event, e.Err)
		}
		if position = log.Next; position == nil {
			c.Finish(log.Total)
			return c, flaws
		}
	}
}

func TestHashChainOfEveryPastSchemaIsValid(t *testing.T) {
	for schema := FirstSchema; schema <= Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			z, err := gzip.NewReader(bytes.NewReader(readFile(t, fixtureFile(schema))))
			if err != nil {
				t.Fatalf("open fixture: %v", err)
			}
			content, err := io.ReadAll(z)
			if err != nil {
				t.Fatalf("read fixture: %v", err)
			}
			path := filepath.Join(t.TempDir(), "vault.db")
			overwrite(content)(t, path)
			s := open(t, path)
			update(t, s, func(tx *Tx) error {
				return tx.AddEvent(model.Event{At: testTime, Actor: model.SystemActor(), Kind: "order.changed", Record: "order:1",
					Changes: []model.Change{{Field: "county", From: []byte(`"Essex"`), To: []byte(`"<Kent>"`)}}})
			})
			c, flaws := scanChain(t, s, 3)
			want := uint64(5)
			if schema < Schema {
				want++ // the migration
			}
			if len(flaws) > 0 || c.Entries != want || c.LastSeq != want || len(c.LastHash) != 64 {
				t.Errorf("got %d entries up to %d, head %q, flaws %v; want %d", c.Entries, c.LastSeq, c.LastHash, flaws, want)
			}
		})
	}
}

func TestScanLog(t *testing.T) {
	s := openNew(t)
	fill(t, s, 4)
	view(t, s, func(tx *Tx) error {
		log := tx.ScanLog(LogPosition(2), 2)
		if len(log.Entries) != 2 || log.Entries[0].Seq != 2 || log.Entries[1].Event.Seq != 3 || log.Total != 5 ||
			!bytes.Equal(log.Next, LogPosition(4)) {
			t.Errorf("ScanLog(2, 2) = %+v, want entries 2 and 3", log)
		}
		if log := tx.ScanLog(LogPosition(6), 2); len(log.Entries) != 0 || log.Next != nil {
			t.Errorf("ScanLog after the end = %+v, want nothing", log)
		}
		if last, err := tx.LastEvent(); err != nil || last.Seq != 5 {
			t.Errorf("LastEvent() = %+v, %v; want entry 5", last, err)
		}
		return nil
	})
	// Entries with invalid keys are also returned.
	invalidKeys := [][]byte{{0}, append(encodeUint64(3), 0), append(encodeUint64(5), 'x'), []byte("zzz")}
	alter := func(change func(*bucket) error) {
		if err := alter(s, func(tx *Tx) error { return change(tx.bucket(bucketEvents)) }); err != nil {
			t.Fatalf("change database: %v", err)
		}
	}
	alter(func(b *bucket) error {
		for _, key := range invalidKeys {
			if err := b.Put(key, []byte("x")); err != nil {
				return err
			}
		}
		return nil
	})
	for limit := 1; limit < 12; limit++ {
		if c, flaws := scanChain(t, s, limit); c.Entries != 9 || len(flaws) != 4 {
			t.Errorf("limit %d: got %d entries, flaws %v; want 9 and 4 flaws", limit, c.Entries, flaws)
		}
	}
	alter(func(b *bucket) error {
		for _, key := range invalidKeys {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// With model.SortSequence, the pages of the audit log contain each match exactly once, whether a page
// ends because of Limit, MaxBytes, or MaxScanned, and regardless of the times of the entries.
func TestListEventsInSequence(t *testing.T) {
	s := openNew(t)
	at := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	update(t, s, func(tx *Tx) error {
		for i := range 60 {
			// The clock runs backward, which must not affect the order.
			e := model.Event{At: at.Add(-time.Duration(i) * time.Second), Actor: model.SystemActor(), Kind: "a.b", Record: "order:1"}
			if i%20 == 19 {
				e.Kind, e.Record = "c.d", "order:2"
			}
			if err := tx.AddEvent(e); err != nil {
				return err
			}
		}
		return nil
	})
	// One damaged entry is skipped.
	var intact []byte
	update(t, s, func(tx *Tx) error {
		b := tx.bucket(bucketEvents)
		intact = slices.Clone(b.Get(encodeUint64(31)))
		return b.Put(encodeUint64(31), append(slices.Clone(intact), 'x'))
	})
	defer update(t, s, func(tx *Tx) error { return tx.bucket(bucketEvents).Put(encodeUint64(31), intact) })
	var all []uint64
	for seq := uint64(1); seq <= 61; seq++ { // entry 1 was written when the vault was created
		if seq != 31 {
			all = append(all, seq)
		}
	}
	rare := []Filter{{model.ColumnKind, "C.D"}}
	for _, row := range []struct {
		name string
		q    Query
		want []uint64
	}{
		{"all", Query{Limit: 100}, all},
		{"small pages", Query{Limit: 7}, all},
		{"few bytes", Query{Limit: 100, MaxBytes: 1}, all},
		{"few entries scanned", Query{Limit: 100, MaxScanned: 9}, all},
		{"kind", Query{Limit: 2, Filters: rare}, []uint64{21, 41, 61}},
		{"kind, few entries scanned", Query{Limit: 2, Filters: rare, MaxScanned: 5}, []uint64{21, 41, 61}},
		{"time range", Query{Limit: 2, CreatedFrom: at.Add(-3 * time.Second), CreatedTo: at.Add(-time.Second)}, []uint64{3, 4, 5}},
		{"contradicting filters", Query{Limit: 2, Filters: []Filter{{model.ColumnKind, "a.b"}, {model.ColumnKind, "c.d"}}}, nil},
		{"from the middle", Query{Limit: 3, Position: encodeUint64(59)}, []uint64{60, 61}},
		{"from the end", Query{Limit: 3, Position: encodeUint64(61)}, nil},
		{"from after the end", Query{Limit: 3, Position: encodeUint64(99)}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			q, got := row.q, []uint64(nil)
			var end []byte
			q.Sort = model.SortSequence
			for pages := 0; ; pages++ {
				var page Page[model.Event]
				view(t, s, func(tx *Tx) (err error) { page, err = tx.ListEvents(q); return err })
				for _, e := range page.Items {
					got = append(got, e.Seq)
				}
				if page.Prev != nil || page.End == nil || page.Next != nil && string(page.Next) != string(page.End) || pages > 100 {
					t.Fatalf("page %d: got prev %x, next %x, end %x; want no prev, and next equal to end or nil", pages, page.Prev, page.Next, page.End)
				}
				if end = page.End; page.Next == nil {
					break
				}
				q.Position = page.Next
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
			if want := encodeUint64(max(61, seqOf(row.q.Position))); fmt.Sprintf("%x", end) != fmt.Sprintf("%x", want) {
				t.Errorf("got end %x, want %x", end, want)
			}
		})
	}
}

// seqOf returns the sequence number in a position.
func seqOf(position []byte) uint64 {
	n, _ := decodeUint64(position)
	return n
}
