package audit_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/audit"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// tampered is a closed vault whose log somebody alters.
type tampered struct {
	t    *testing.T
	opts instance.Options
}

// longLog makes a closed vault whose log has n entries.
func longLog(t *testing.T, n int) tampered {
	t.Helper()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for made := 1; made < n; { // the first is there
		batch := min(10_000, n-made)
		err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
			for i := range batch {
				e := model.Event{At: opts.Now(), Actor: vaulttest.Operator, Kind: "order.changed", Record: fmt.Sprint("order:", made+i),
					Changes: []model.Change{{Field: "county", From: []byte(`null`), To: []byte(`"Kent"`)}}}
				if err := tx.AddEvent(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		made += batch
	}
	vaulttest.Close(t, v)
	return tampered{t, opts}
}

// alter changes the closed database as somebody with an editor for it would.
func (l tampered) alter(change func(*bolt.Bucket)) {
	l.t.Helper()
	db, err := bolt.Open(filepath.Join(l.opts.Dir, "vault.db"), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		l.t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { change(tx.Bucket([]byte("events"))); return nil })
	if err := errors.Join(err, db.Close()); err != nil {
		l.t.Fatal(err)
	}
}

func place(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func (l tampered) get(b *bolt.Bucket, seq uint64) (e model.Event) {
	l.t.Helper()
	if err := json.Unmarshal(b.Get(place(seq))[5:], &e); err != nil {
		l.t.Fatal(err)
	}
	return e
}

// put writes an entry with a checksum that holds (app/store/record.go draws it).
func (l tampered) put(b *bolt.Bucket, seq uint64, e model.Event) {
	l.t.Helper()
	payload, err := json.Marshal(e)
	if err != nil {
		l.t.Fatal(err)
	}
	key := place(seq)
	sum := crc32.Checksum(slices.Concat([]byte("events\x00"), key, payload), crc32.MakeTable(crc32.Castagnoli))
	if err := b.Put(key, slices.Concat([]byte{1}, binary.BigEndian.AppendUint32(nil, sum), payload)); err != nil {
		l.t.Fatal(err)
	}
}

func (l tampered) seal(e model.Event, prev string) model.Event {
	l.t.Helper()
	e, err := e.WithHash(prev)
	if err != nil {
		l.t.Fatal(err)
	}
	return e
}

// verify opens the vault and verifies its log.
func (l tampered) verify() (r audit.LogReport, named []string) {
	l.t.Helper()
	v, err := instance.Open(l.t.Context(), l.opts)
	if err != nil {
		l.t.Fatal(err)
	}
	defer vaulttest.Close(l.t, v)
	var last uint64
	r, err = v.Events.Verify(l.t.Context(), func(done, total uint64) {
		if done < last || total == 0 {
			l.t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	})
	if err != nil || last != r.Entries {
		l.t.Errorf("%v, progress ended at %d of %d", err, last, r.Entries)
	}
	for _, f := range r.Findings {
		named = append(named, f.Kind+" "+f.Subject)
	}
	return r, named
}

// One changed, one missing, one added of a hundred thousand are found and named,
// also when whoever did it made the checksums right.
func TestEventsVerifyFindsOneOfAHundredThousand(t *testing.T) {
	t.Parallel()
	const n = longLogEntries
	l := longLog(t, n)
	whole, named := l.verify()
	if !whole.OK() || whole.Entries != n || whole.Last != n || len(whole.Head) != 64 {
		t.Fatalf("%+v, %v", whole, named)
	}
	var want []string
	for _, step := range []struct {
		name   string
		change func(b *bolt.Bucket)
		want   string
	}{
		{"one changed", func(b *bolt.Bucket) {
			e := l.get(b, n/3)
			e.Actor.Name = "somebody else"
			l.put(b, n/3, e)
		}, fmt.Sprint("changed ", n/3)},
		{"one changed and sealed anew", func(b *bolt.Bucket) {
			e := l.get(b, n/2)
			e.Changes[0].To = []byte(`"Essex"`)
			l.put(b, n/2, l.seal(e, e.Prev))
		}, fmt.Sprint("changed ", n/2)},
		{"one changed, its checksum not", func(b *bolt.Bucket) {
			raw := bytes.Clone(b.Get(place(n * 3 / 5)))
			if err := b.Put(place(n*3/5), bytes.Replace(raw, []byte("Kent"), []byte("Lent"), 1)); err != nil {
				t.Error(err)
			}
		}, fmt.Sprint("changed ", n*3/5)},
		{"one missing", func(b *bolt.Bucket) {
			if err := b.Delete(place(n * 3 / 4)); err != nil {
				t.Error(err)
			}
		}, fmt.Sprint("missing ", n*3/4)},
		{"one added", func(b *bolt.Bucket) {
			last := l.get(b, n)
			l.put(b, n+1, l.seal(model.Event{Seq: n + 1, At: last.At, Kind: "key.created", Record: "key:1"}, last.Hash))
		}, fmt.Sprint("added ", n+1)},
	} {
		l.alter(step.change)
		want = append(want, step.want)
	}
	if _, named = l.verify(); !slices.Equal(named, want) {
		t.Errorf("found %q, want %q", named, want)
	}
}

// Who takes out or puts in an entry and numbers all others anew is found as well.
func TestEventsVerifyFindsWhatWasNumberedAnew(t *testing.T) {
	t.Parallel()
	const n = 1200
	shift := func(l tampered, b *bolt.Bucket, from, to uint64, by int64) {
		for i := range to - from {
			seq := from + i
			if by > 0 {
				seq = to - 1 - i
			}
			e := l.get(b, seq)
			e.Seq += uint64(by)
			l.put(b, e.Seq, e)
		}
	}
	for _, row := range []struct {
		name   string
		change func(l tampered, b *bolt.Bucket)
		want   []string
	}{
		{"taken out", func(l tampered, b *bolt.Bucket) {
			shift(l, b, 1001, n+1, -1)
			if err := errors.Join(b.Delete(place(n)), b.SetSequence(n-1)); err != nil {
				t.Error(err)
			}
		}, []string{"missing 1000"}},
		{"put in", func(l tampered, b *bolt.Bucket) {
			before := l.get(b, 999)
			shift(l, b, 1000, n+1, 1)
			l.put(b, 1000, l.seal(model.Event{Seq: 1000, At: before.At, Kind: "key.created"}, before.Hash))
			if err := b.SetSequence(n + 1); err != nil {
				t.Error(err)
			}
		}, []string{"added 1000"}},
		{"the end cut off", func(_ tampered, b *bolt.Bucket) {
			for seq := uint64(1100); seq <= n; seq++ {
				if err := b.Delete(place(seq)); err != nil {
					t.Error(err)
				}
			}
		}, []string{"missing 1100-1200"}},
		{"sealed anew to the end", func(l tampered, b *bolt.Bucket) { // only its head tells
			prev := l.get(b, 999).Hash
			for seq := uint64(1000); seq <= n; seq++ {
				e := l.get(b, seq)
				e.Actor.Name = "somebody else"
				e = l.seal(e, prev)
				l.put(b, seq, e)
				prev = e.Hash
			}
		}, nil},
		{"all changed", func(l tampered, b *bolt.Bucket) {
			for seq := uint64(1); seq <= n; seq++ {
				e := l.get(b, seq)
				e.Kind = "x"
				l.put(b, seq, e)
			}
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := longLog(t, n)
			whole, _ := l.verify()
			l.alter(func(b *bolt.Bucket) { row.change(l, b) })
			r, named := l.verify()
			switch {
			case row.name == "all changed":
				if len(named) != 1000 || r.More != n-1000 {
					t.Errorf("%d named, %d more", len(named), r.More)
				}
			case !slices.Equal(named, row.want):
				t.Errorf("found %q, want %q", named, row.want)
			case r.Head == whole.Head && r.Last == whole.Last:
				t.Error("the head is as before")
			}
		})
	}
}

// seqs reads the log from an entry on.
func seqs(t *testing.T, v *instance.Instance, from uint64) (list []model.Event) {
	t.Helper()
	err := v.Events.Each(t.Context(), from, func(e model.Event, err error) error {
		list = append(list, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEventsEach(t *testing.T) {
	t.Parallel()
	l := longLog(t, 1234)
	l.alter(func(b *bolt.Bucket) {
		if err := b.Put(place(700), []byte("x")); err != nil {
			t.Error(err)
		}
	})
	v, err := instance.Open(t.Context(), l.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer vaulttest.Close(t, v)
	for _, from := range []uint64{0, 1, 2, 500, 501, 1234, 1235} {
		next, damaged := max(from, 1), 0
		err := v.Events.Each(t.Context(), from, func(e model.Event, err error) error {
			if e.Seq != next || (err != nil) != (e.Seq == 700) || err == nil && e.Hash == "" {
				return fmt.Errorf("entry %d, want %d: %w", e.Seq, next, err)
			}
			if err != nil {
				damaged++
			}
			if next++; from == 1 { // what comes later is not waited for
				return v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return nil })
			}
			return nil
		})
		if err != nil || next != 1235 || damaged != 1 && from <= 700 {
			t.Errorf("from %d: to %d, %d damaged, %v", from, next, damaged, err)
		}
	}
	enough := errors.New("enough")
	if err := v.Events.Each(t.Context(), 1, func(model.Event, error) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
}

// An export ends although entries keep coming.
func TestEventsEachEnds(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	count := 0
	err := v.Events.Each(t.Context(), 1, func(model.Event, error) error {
		count++
		vaulttest.CreateKey(t, v, model.KeyDraft{})
		return nil
	})
	if err != nil || count != 1 {
		t.Errorf("%d entries, %v", count, err)
	}
}

func TestEventsList(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"))
	v.Events.RecordAccess(model.Actor{Kind: model.ActorLink, Address: "192.0.2.1"}, "file.opened", "file:2", nil)
	page, err := v.Events.List(t.Context(), store.Query{Sort: store.SortCreated, Descending: true, Limit: 10})
	if err != nil || len(page.Items) != 4 || page.Items[0].Kind != "file.opened" {
		t.Errorf("%+v, %v", page.Items, err)
	}
	page, err = v.Events.List(t.Context(), store.Query{Sort: store.SortCreated, Limit: 10, Filters: []store.Filter{{Column: store.ColumnRecord, Value: "file:2"}}})
	if err != nil || len(page.Items) != 2 || page.Items[1].Kind != "file.opened" {
		t.Errorf("%+v, %v", page.Items, err)
	}
}

// A page of the log costs no commit when only the use of a key waits, which is the
// request's own.
func TestReadingTheLogWritesNothing(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	text, _ := vaulttest.CreateKey(t, v, model.KeyDraft{})
	database := func() []byte {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	before := database()
	vaulttest.WantKeyValid(t, v, text, true)
	if _, err := v.Events.List(t.Context(), store.Query{Limit: 10}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, database()) {
		t.Error("reading the log wrote to the database")
	}
}
