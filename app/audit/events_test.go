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
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// closedLog is the audit log of a closed instance. Tests modify its database.
type closedLog struct {
	t    *testing.T
	opts instance.Options
}

// newClosedLog creates an audit log with n entries.
func newClosedLog(t *testing.T, n int) closedLog {
	t.Helper()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	for written := 1; written < n; { // opening the instance wrote the first entry
		batch := min(10_000, n-written)
		err := v.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
			for i := range batch {
				e := model.Event{At: opts.Now(), Actor: vaulttest.Operator, Kind: "order.changed", Record: fmt.Sprint("order:", written+i),
					Changes: []model.Change{{Field: "county", From: []byte(`null`), To: []byte(`"Kent"`)}}}
				if err := tx.AddEvent(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("add entries: %v", err)
		}
		written += batch
	}
	vaulttest.Close(t, v)
	return closedLog{t, opts}
}

// alter changes the closed database directly with bbolt, without using deedkeep.
func (l closedLog) alter(change func(*bolt.Bucket)) {
	l.t.Helper()
	db, err := bolt.Open(filepath.Join(l.opts.Dir, "vault.db"), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		l.t.Fatalf("open database: %v", err)
	}
	err = db.Update(func(tx *bolt.Tx) error { change(tx.Bucket([]byte("events"))); return nil })
	if err := errors.Join(err, db.Close()); err != nil {
		l.t.Fatalf("alter database: %v", err)
	}
}

// entryKey returns the database key of an entry.
func entryKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func (l closedLog) get(b *bolt.Bucket, seq uint64) (e model.Event) {
	l.t.Helper()
	if err := json.Unmarshal(b.Get(entryKey(seq))[5:], &e); err != nil {
		l.t.Fatalf("read entry %d: %v", seq, err)
	}
	return e
}

// put writes an entry with a valid checksum. app/store/table.go describes the format.
func (l closedLog) put(b *bolt.Bucket, seq uint64, e model.Event) {
	l.t.Helper()
	payload, err := json.Marshal(e)
	if err != nil {
		l.t.Fatalf("marshal entry %d: %v", seq, err)
	}
	key := entryKey(seq)
	sum := crc32.Checksum(slices.Concat([]byte("events\x00"), key, payload), crc32.MakeTable(crc32.Castagnoli))
	if err := b.Put(key, slices.Concat([]byte{1}, binary.BigEndian.AppendUint32(nil, sum), payload)); err != nil {
		l.t.Fatalf("write entry %d: %v", seq, err)
	}
}

// rehash returns the entry with the hash that it must have if prev is the previous entry's
// hash.
func (l closedLog) rehash(e model.Event, prev string) model.Event {
	l.t.Helper()
	e, err := e.WithHash(prev)
	if err != nil {
		l.t.Fatalf("hash entry %d: %v", e.Seq, err)
	}
	return e
}

// verify opens the instance and verifies its audit log. It returns the report and its
// findings in the form "kind subject".
func (l closedLog) verify() (r audit.LogReport, findings []string) {
	l.t.Helper()
	v, err := instance.Open(l.t.Context(), l.opts)
	if err != nil {
		l.t.Fatalf("open instance: %v", err)
	}
	defer vaulttest.Close(l.t, v)
	var last uint64
	r, err = v.Events.Verify(l.t.Context(), func(done, total uint64) {
		if done < last || total == 0 {
			l.t.Errorf("progress = %d of %d after %d, want it to increase", done, total, last)
		}
		last = done
	})
	if err != nil || last != r.Entries {
		l.t.Errorf("Verify(): error %v, last progress %d; want no error and %d", err, last, r.Entries)
	}
	for _, f := range r.Findings {
		findings = append(findings, f.Kind+" "+f.Subject)
	}
	return r, findings
}

// Verify finds a single changed, missing, or added entry in a long log, even if its
// checksum and hash were updated.
func TestEventsVerifyLongLog(t *testing.T) {
	t.Parallel()
	const n = longLogEntries
	l := newClosedLog(t, n)
	intact, findings := l.verify()
	if !intact.OK() || intact.Entries != n || intact.Last != n || len(intact.Head) != 64 {
		t.Fatalf("Verify() of the intact log = %+v, findings %q; want %d entries and no findings", intact, findings, n)
	}
	var want []string
	for _, tt := range []struct {
		change func(b *bolt.Bucket)
		want   string
	}{
		// Changed, with a valid checksum.
		{func(b *bolt.Bucket) {
			e := l.get(b, n/3)
			e.Actor.Name = "someone else"
			l.put(b, n/3, e)
		}, fmt.Sprint("changed ", n/3)},
		// Changed, with a valid checksum and hash.
		{func(b *bolt.Bucket) {
			e := l.get(b, n/2)
			e.Changes[0].To = []byte(`"Essex"`)
			l.put(b, n/2, l.rehash(e, e.Prev))
		}, fmt.Sprint("changed ", n/2)},
		// Changed, with an invalid checksum.
		{func(b *bolt.Bucket) {
			raw := bytes.Clone(b.Get(entryKey(n * 3 / 5)))
			if err := b.Put(entryKey(n*3/5), bytes.Replace(raw, []byte("Kent"), []byte("Lent"), 1)); err != nil {
				t.Errorf("write entry %d: %v", n*3/5, err)
			}
		}, fmt.Sprint("changed ", n*3/5)},
		// Missing.
		{func(b *bolt.Bucket) {
			if err := b.Delete(entryKey(n * 3 / 4)); err != nil {
				t.Errorf("delete entry %d: %v", n*3/4, err)
			}
		}, fmt.Sprint("missing ", n*3/4)},
		// Added at the end.
		{func(b *bolt.Bucket) {
			last := l.get(b, n)
			l.put(b, n+1, l.rehash(model.Event{Seq: n + 1, At: last.At, Kind: "key.created", Record: "key:1"}, last.Hash))
		}, fmt.Sprint("added ", n+1)},
	} {
		l.alter(tt.change)
		want = append(want, tt.want)
	}
	if _, findings = l.verify(); !slices.Equal(findings, want) {
		t.Errorf("findings = %q, want %q", findings, want)
	}
}

// Verify finds a removed or inserted entry even if all later entries were renumbered. If
// all later entries were also rehashed, there are no findings, but the head hash is
// different.
func TestEventsVerifyRewrittenLog(t *testing.T) {
	t.Parallel()
	const n = 1200
	renumber := func(l closedLog, b *bolt.Bucket, from, to uint64, by int64) {
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
	for _, tt := range []struct {
		name   string
		change func(l closedLog, b *bolt.Bucket)
		want   []string
		more   int // findings beyond the limit of a report, whose text is not compared
	}{
		{name: "removed", change: func(l closedLog, b *bolt.Bucket) {
			renumber(l, b, 1001, n+1, -1)
			if err := errors.Join(b.Delete(entryKey(n)), b.SetSequence(n-1)); err != nil {
				t.Errorf("remove the last entry: %v", err)
			}
		}, want: []string{"missing 1000"}},
		{name: "inserted", change: func(l closedLog, b *bolt.Bucket) {
			before := l.get(b, 999)
			renumber(l, b, 1000, n+1, 1)
			l.put(b, 1000, l.rehash(model.Event{Seq: 1000, At: before.At, Kind: "key.created"}, before.Hash))
			if err := b.SetSequence(n + 1); err != nil {
				t.Errorf("set the sequence: %v", err)
			}
		}, want: []string{"added 1000"}},
		{name: "truncated", change: func(_ closedLog, b *bolt.Bucket) {
			for seq := uint64(1100); seq <= n; seq++ {
				if err := b.Delete(entryKey(seq)); err != nil {
					t.Errorf("delete entry %d: %v", seq, err)
				}
			}
		}, want: []string{"missing 1100-1200"}},
		{name: "rehashed to the end", change: func(l closedLog, b *bolt.Bucket) {
			prev := l.get(b, 999).Hash
			for seq := uint64(1000); seq <= n; seq++ {
				e := l.get(b, seq)
				e.Actor.Name = "someone else"
				e = l.rehash(e, prev)
				l.put(b, seq, e)
				prev = e.Hash
			}
		}},
		{name: "all entries changed", change: func(l closedLog, b *bolt.Bucket) {
			for seq := uint64(1); seq <= n; seq++ {
				e := l.get(b, seq)
				e.Kind = "x"
				l.put(b, seq, e)
			}
		}, more: n - 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newClosedLog(t, n)
			intact, _ := l.verify()
			l.alter(func(b *bolt.Bucket) { tt.change(l, b) })
			r, findings := l.verify()
			switch {
			case tt.more > 0:
				if len(findings) != 1000 || r.More != tt.more {
					t.Errorf("Verify() listed %d findings and %d more, want 1000 and %d", len(findings), r.More, tt.more)
				}
			case !slices.Equal(findings, tt.want):
				t.Errorf("findings = %q, want %q", findings, tt.want)
			case r.Head == intact.Head && r.Last == intact.Last:
				t.Errorf("head = %s, last = %d: want another head or last entry than before the change", r.Head, r.Last)
			}
		})
	}
}

// entriesFrom returns the audit log entries starting with a sequence number.
func entriesFrom(t *testing.T, v *instance.Instance, from uint64) (list []model.Event) {
	t.Helper()
	err := v.Events.Each(t.Context(), from, func(e model.Event, err error) error {
		list = append(list, e)
		return err
	})
	if err != nil {
		t.Fatalf("read the log from %d: %v", from, err)
	}
	return list
}

func TestEventsEach(t *testing.T) {
	t.Parallel()
	l := newClosedLog(t, 1234)
	l.alter(func(b *bolt.Bucket) {
		if err := b.Put(entryKey(700), []byte("x")); err != nil {
			t.Errorf("damage entry 700: %v", err)
		}
	})
	v, err := instance.Open(t.Context(), l.opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer vaulttest.Close(t, v)
	for _, from := range []uint64{0, 1, 2, 500, 501, 1234, 1235} {
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) {
			next, damaged := max(from, 1), 0
			err := v.Events.Each(t.Context(), from, func(e model.Event, err error) error {
				if e.Seq != next || (err != nil) != (e.Seq == 700) || err == nil && e.Hash == "" {
					return fmt.Errorf("entry %d, want %d: %w", e.Seq, next, err)
				}
				if err != nil {
					damaged++
				}
				if next++; from == 1 { // a write must not have to wait until the entire log has been read
					return v.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return nil })
				}
				return nil
			})
			if err != nil || next != 1235 || damaged != 1 && from <= 700 {
				t.Errorf("Each(%d): error %v, next entry %d, %d damaged; want no error, 1235, and 1 if it reads entry 700",
					from, err, next, damaged)
			}
		})
	}
	errStop := errors.New("stop")
	if err := v.Events.Each(t.Context(), 1, func(model.Event, error) error { return errStop }); !errors.Is(err, errStop) {
		t.Errorf("Each() = %v, want the error of the callback, %v", err, errStop)
	}
}

// Each terminates even if new entries are added while it runs.
func TestEventsEachSkipsNewEntries(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	count := 0
	err := v.Events.Each(t.Context(), 1, func(model.Event, error) error {
		count++
		vaulttest.CreateKey(t, v, model.KeyDraft{})
		return nil
	})
	if err != nil || count != 1 {
		t.Errorf("Each() read %d entries, %v; want 1", count, err)
	}
}

func TestEventsList(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"), vaulttest.PDFDoc("b.pdf", "b"))
	v.Events.RecordAccess(model.Actor{Kind: model.ActorLink, Address: "192.0.2.1"}, "file.opened", "file:2", nil)
	page, err := v.Events.List(t.Context(), store.Query{Sort: model.SortCreated, Descending: true, Limit: 10})
	if err != nil || len(page.Items) != 4 || page.Items[0].Kind != "file.opened" {
		t.Errorf("List(), newest first = %+v, %v; want 4 entries, file.opened first", page.Items, err)
	}
	page, err = v.Events.List(t.Context(), store.Query{Sort: model.SortCreated, Limit: 10,
		Filters: []store.Filter{{Column: model.ColumnRecord, Value: "file:2"}}})
	if err != nil || len(page.Items) != 2 || page.Items[1].Kind != "file.opened" {
		t.Errorf("List() of file:2 = %+v, %v; want 2 entries, file.opened last", page.Items, err)
	}
}

// Listing the audit log doesn't commit anything if only key uses are buffered. Otherwise,
// every request with an API key would cause a commit.
func TestEventsListDoesNotCommitKeyUse(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	text, _ := vaulttest.CreateKey(t, v, model.KeyDraft{})
	readDatabase := func() []byte {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(opts.Dir, "vault.db"))
		if err != nil {
			t.Fatalf("read database: %v", err)
		}
		return raw
	}
	before := readDatabase()
	vaulttest.WantKeyValid(t, v, text, true)
	if _, err := v.Events.List(t.Context(), store.Query{Limit: 10}); err != nil {
		t.Fatalf("list the log: %v", err)
	}
	if !bytes.Equal(before, readDatabase()) {
		t.Error("List() changed the database, want no write")
	}
}

// Entries contain the name or number of a new record, and the backups that were pruned.
func TestEventDetails(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	ctx, operator := t.Context(), model.Actor{Kind: "operator", Name: "Kim"}
	_, key, err := v.Keys.Create(ctx, operator, model.KeyDraft{Name: "Closing", Abilities: []string{model.AbilityAPI}})
	if err != nil {
		t.Fatalf("create key: %v", err)
	}
	if _, _, err := v.Keys.Rotate(ctx, operator, key.ID, 0); err != nil {
		t.Fatalf("rotate key: %v", err)
	}
	folder := model.FolderDraft{Name: model.StringInput("Smith")}
	if _, err := v.Folders.Create(ctx, operator, folder, vault.Idempotency[model.Folder]{}); err != nil {
		t.Fatalf("create folder: %v", err)
	}
	order := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("2026-17")}}
	if _, err := v.Orders.Create(ctx, operator, order, vault.Idempotency[model.Order]{}); err != nil {
		t.Fatalf("create order: %v", err)
	}
	if err := v.Backups.LogPruned(ctx, operator, "/b", []string{"x", "y"}); err != nil {
		t.Fatalf("log pruned backups: %v", err)
	}
	vaulttest.WantKind(t, "log zero pruned backups", v.Backups.LogPruned(ctx, operator, "/b", nil), errs.Invalid)
	want := []string{
		"key.created map[abilities:" + model.AbilityAPI + " name:Closing]",
		"key.rotated map[abilities:" + model.AbilityAPI + " from:key:1 name:Closing]",
		"folder.created map[name:Smith]", "order.created map[number:2026-17]", "backup.pruned map[from:/b removed:x, y]",
	}
	var got []string
	for _, e := range vaulttest.AuditEntries(t, v, len(want)) {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Detail))
	}
	if slices.Reverse(got); !slices.Equal(got, want) {
		t.Errorf("entries = %q, want %q", got, want)
	}
}
