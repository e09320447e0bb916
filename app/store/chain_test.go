package store

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/model"
)

// walkLog hands every entry to a chain, in stretches.
func walkLog(t *testing.T, s *Store, limit int) (c model.Chain, flaws []model.Flaw) {
	t.Helper()
	c.Find = func(f model.Flaw) { flaws = append(flaws, f) }
	var place []byte
	for {
		var log LogPage
		view(t, s, func(tx *Tx) error { log = tx.ScanLog(place, limit); return nil })
		for _, e := range log.Entries {
			c.Add(e.Seq, e.Event, e.Err)
		}
		if place = log.Next; place == nil {
			c.End(log.Total)
			return c, flaws
		}
	}
}

// Events that were written before there were changes in them still hold.
func TestTheChainOfEveryPastSchemaHolds(t *testing.T) {
	for schema := 1; schema <= Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			z, err := gzip.NewReader(bytes.NewReader(read(t, fixturePath(schema))))
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "vault.db")
			overwrite(content)(t, path)
			s := open(t, path)
			update(t, s, func(tx *Tx) error {
				return tx.AddEvent(model.Event{At: testTime, Actor: model.System(), Kind: "order.changed", Record: "order:1",
					Changes: []model.Change{{Field: "county", From: []byte(`"Essex"`), To: []byte(`"<Kent>"`)}}})
			})
			c, flaws := walkLog(t, s, 3)
			if len(flaws) > 0 || c.Entries != 5 || c.Last != 5 || len(c.Head) != 64 {
				t.Errorf("%d entries to %d, head %q, flaws %v", c.Entries, c.Last, c.Head, flaws)
			}
		})
	}
}

func TestLogFrom(t *testing.T) {
	s := openNew(t)
	fill(t, s, 4)
	view(t, s, func(tx *Tx) error {
		log := tx.ScanLog(LogPosition(2), 2)
		if len(log.Entries) != 2 || log.Entries[0].Seq != 2 || log.Entries[1].Event.Seq != 3 || log.Total != 5 || !bytes.Equal(log.Next, LogPosition(4)) {
			t.Errorf("%+v", log)
		}
		if log := tx.ScanLog(LogPosition(6), 2); len(log.Entries) != 0 || log.Next != nil {
			t.Errorf("behind the end: %+v", log)
		}
		if last, err := tx.LastEvent(); err != nil || last.Seq != 5 {
			t.Errorf("last %+v, %v", last, err)
		}
		return nil
	})
	// Whatever its key, nothing that stands in the log is passed over.
	strange := [][]byte{{0}, append(encodeUint64(3), 0), append(encodeUint64(5), 'x'), []byte("zzz")}
	alter := func(change func(*bolt.Bucket) error) {
		if err := s.db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket(bucketEvents)) }); err != nil {
			t.Fatal(err)
		}
	}
	alter(func(b *bolt.Bucket) error {
		for _, key := range strange {
			if err := b.Put(key, []byte("x")); err != nil {
				return err
			}
		}
		return nil
	})
	for limit := 1; limit < 12; limit++ {
		if c, flaws := walkLog(t, s, limit); c.Entries != 9 || len(flaws) != 4 {
			t.Errorf("by %d: %d entries, %v", limit, c.Entries, flaws)
		}
	}
	alter(func(b *bolt.Bucket) error {
		for _, key := range strange {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}
