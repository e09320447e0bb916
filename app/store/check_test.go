package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

// Each row damages a store in a way that the store itself never would.
func TestCheckReportsDamage(t *testing.T) {
	put := func(bucket []byte, key, value []byte) func(*Tx) error {
		return func(tx *Tx) error { return tx.bucket(bucket).Put(key, value) }
	}
	remove := func(bucket []byte, key []byte) func(*Tx) error {
		return func(tx *Tx) error { return tx.bucket(bucket).Delete(key) }
	}
	record := func(bucket []byte, id uint64, v any) func(*Tx) error {
		return func(tx *Tx) error {
			raw, err := encodeRecord(bucket, encodeUint64(id), v)
			return errors.Join(err, tx.bucket(bucket).Put(encodeUint64(id), raw))
		}
	}
	event := func(id uint64, change func(*model.Event)) func(*Tx) error {
		return func(tx *Tx) error {
			e, err := events.get(tx, id)
			change(&e)
			return errors.Join(err, events.put(tx, id, e))
		}
	}
	for _, row := range []struct {
		name   string
		change func(*Tx) error
		want   Finding // Problem is a substring of the actual problem
	}{
		{"an event is changed", event(2, func(e *model.Event) { e.Record = "file:9" }),
			Finding{"event", "2", "changed: the hash doesn't match"}},
		{"an event is changed and hashed again", event(2, func(e *model.Event) { e.Record = "file:9"; *e, _ = e.WithHash(e.Prev) }),
			Finding{"event", "2", "changed: the hash doesn't match the previous hash in entry 3"}},
		{"an event is missing", remove(bucketEvents, encodeUint64(2)), Finding{"event", "2", "missing: the entry was deleted"}},
		{"the first event is missing", remove(bucketEvents, encodeUint64(1)), Finding{"event", "1", "missing: the entry was deleted"}},
		{"the last event is missing", remove(bucketEvents, encodeUint64(4)), Finding{"event", "4", "missing: the log should contain 4 entries"}},
		{"all events are missing", func(tx *Tx) error {
			return errors.Join(remove(bucketEvents, encodeUint64(1))(tx), remove(bucketEvents, encodeUint64(2))(tx),
				remove(bucketEvents, encodeUint64(3))(tx), remove(bucketEvents, encodeUint64(4))(tx))
		}, Finding{"event", "1-4", "missing: the log should contain 4 entries"}},
		{"an event is added", func(tx *Tx) error {
			last, err := events.get(tx, 4)
			e, err2 := model.Event{Seq: 5, Kind: "key.created"}.WithHash(last.Hash)
			return errors.Join(err, err2, events.put(tx, 5, e))
		}, Finding{"event", "5", "added: the log should contain 4 entries"}},
		{"two events are swapped", func(tx *Tx) error {
			return errors.Join(event(2, func(e *model.Event) { e.Seq = 3 })(tx), event(3, func(e *model.Event) { e.Seq = 2 })(tx))
		}, Finding{"event", "2", "changed: the sequence number was changed"}},
		{"a record is missing", remove(bucketAbstracts, encodeUint64(1)), Finding{"file", "1", "refers to abstract 1, which does not exist"}},
		{"a file is missing", remove(bucketFiles, encodeUint64(1)), Finding{"abstract", "1", "refers to file 1, which does not exist"}},
		{"a folder is missing", remove(bucketFolders, encodeUint64(1)), Finding{"folder", "5", "refers to folder 1, which does not exist"}},
		{"a template is missing", remove(bucketTemplates, encodeUint64(1)), Finding{"abstract", "1", "refers to template 1, which does not exist"}},
		{"the default template is missing", remove(bucketTemplates, encodeUint64(1)),
			Finding{"workspace", "default_template", "refers to template 1, which does not exist"}},
		{"a file of another abstract", record(bucketFiles, 1, model.File{ID: 1, Size: 10, Digest: digest(0), AbstractID: 2}),
			Finding{"abstract", "1", "lists file 1, which belongs to abstract 2"}},
		{"a file its abstract does not list", record(bucketFiles, 1, model.File{ID: 1, Size: 10, Digest: digest(0), AbstractID: 2}),
			Finding{"file", "1", "is not listed by abstract 2"}},
		{"an ID above the sequence", record(bucketKeys, 9, model.Key{ID: 9, Hash: digest(9)}), Finding{"key", "9", "greater than the last assigned ID"}},
		{"a key of three bytes", put(bucketKeys, []byte{0, 0, 0}, []byte("x")), Finding{"key", "0", "invalid key of 3 bytes"}},
		{"a record under another's key", func(tx *Tx) error {
			b := tx.bucket(bucketOrders)
			return b.Put(encodeUint64(1), bytes.Clone(b.Get(encodeUint64(2))))
		}, Finding{"order", "1", "record is damaged"}},
		{"an order number without its index", func(tx *Tx) error {
			o, err := orders.get(tx, 2)
			c := orders.listFields(tx, &o)
			return errors.Join(err, tx.bucket(bucketOrderIndex).Delete(orders.appendKey(nil, &c, 1)))
		}, Finding{"order", "2", "missing from the database index order_index"}},
		{"an index without its order", put(bucketOrderIndex, append([]byte("nz\x00\x80aaaaaaa"), encodeUint64(2)...), nil),
			Finding{"index", "order_index", "doesn't match a record"}},
		{"a folder without its index", remove(bucketFolderNames, folderNameKey(0, "Inbox")),
			Finding{"folder", "1", "missing from the database index folder_names"}},
		{"an index that names another folder", put(bucketFolderNames, folderNameKey(0, "Inbox"), encodeUint64(2)),
			Finding{"index", "folder_names", "doesn't match a record"}},
		{"a digest without its index", remove(bucketFileDigests, append(make([]byte, 32), encodeUint64(1)...)),
			Finding{"file", "1", "missing from the database index file_digests"}},
		{"an index without its file", put(bucketFileDigests, make([]byte, 40), nil), Finding{"index", "file_digests", "doesn't match a record"}},
		{"a key hash without its key", put(bucketKeyHashes, make([]byte, 32), encodeUint64(9)),
			Finding{"index", "key_hashes", "doesn't match a record"}},
		{"a counter", put(bucketCounters, []byte("files"), encodeUint64(3)), Finding{"counter", "files", "is 3, expected 2"}},
		{"an unknown counter", put(bucketCounters, []byte("filez"), encodeUint64(0)), Finding{"database", "counters", `unknown entry "filez"`}},
		{"the secret", put(bucketMeta, keySecret, []byte("fq")), Finding{"database", "secret", "secret.key"}},
		{"the schema", put(bucketMeta, keySchema, encodeUint64(0)), Finding{"database", "schema", fmt.Sprintf("is 0, expected %d", Schema)}},
		{"the time of creation", put(bucketMeta, keyCreated, []byte("2026-05-29T04:00:01Z")), Finding{"database", "created", "differs"}},
		{"the order fields", remove(bucketWorkspace, keyOrderFields), Finding{"workspace", "order_fields", "missing"}},
		{"the order statuses", put(bucketWorkspace, keyOrderStatuses, []byte("x")), Finding{"workspace", "order_statuses", "damaged"}},
		{"the default template's pointer", put(bucketWorkspace, keyDefaultTemplate, encodeUint64(2)),
			Finding{"workspace", "default_template", "damaged"}},
		{"an abstract in the trash without its file", record(bucketAbstracts, 1,
			model.Abstract{ID: 1, Files: []uint64{1}, Trashed: trashedAt(1, "")}), Finding{"file", "1", "only one of them is in the trash"}},
		{"a file deleted alone but still listed", record(bucketFiles, 1,
			model.File{ID: 1, Digest: digest(0), AbstractID: 1, Trashed: trashedAt(1, "")}), Finding{"abstract", "1", "which was deleted separately"}},
		{"a file in the trash with another abstract", record(bucketFiles, 1,
			model.File{ID: 1, Digest: digest(0), AbstractID: 1,
				Trashed: trashedAt(1, "abstract:2")}), Finding{"file", "1", "was deleted with abstract:2, but doesn't belong to it"}},
		{"a file in the trash with a live abstract", record(bucketFiles, 1,
			model.File{ID: 1, Digest: digest(0), AbstractID: 1,
				Trashed: trashedAt(1, "abstract:1")}), Finding{"file", "1", "only one of them is in the trash"}},
		{"a file in the trash with a missing abstract", record(bucketFiles, 1,
			model.File{ID: 1, Digest: digest(0), AbstractID: 9,
				Trashed: trashedAt(1, "abstract:9")}), Finding{"file", "1", "refers to abstract 9, which does not exist"}},
		{"an order whose status differs from its index", record(bucketOrders, 1,
			model.Order{ID: 1, Number: "A-0", Status: "on_hold",
				CreatedAt: testTime}), Finding{"order", "1", "a wrong entry in the database index order_index"}},
		{"a count of a status", put(bucketCounts, []byte("order\x00status\x00active"), encodeUint64(3)),
			Finding{"counter", "order status active", "expected 2"}},
		{"a count that is missing", remove(bucketCounts, []byte("order\x00status\x00active")),
			Finding{"counter", "order status active", "is missing, expected 2"}},
		{"a count for a value without records", put(bucketCounts, []byte("order\x00status\x00gone"), encodeUint64(1)),
			Finding{"counter", "order status gone", "expected 0"}},
		{"a damaged stored response", put(bucketStoredResponses, make([]byte, 32), []byte("x")),
			Finding{"replay", strings.Repeat("00", 32), "damaged"}},
		{"a stored response without its time", func(tx *Tx) error {
			raw, err := encodeRecord(bucketStoredResponses, make([]byte, 32), model.StoredResponse{Status: 201})
			return errors.Join(err, tx.bucket(bucketStoredResponses).Put(make([]byte, 32), raw))
		}, Finding{"replay", strings.Repeat("00", 32), "missing from the database index replay_times"}},
		{"a time without its stored response", put(bucketStoredResponseTimes, make([]byte, 40), nil),
			Finding{"index", "replay_times", "doesn't match a record"}},
		{"a trash entry without a type", put(bucketTrash, append([]byte("caaaaaaaa"), encodeUint64(1)...), nil),
			Finding{"index", "trash", "doesn't match a record"}},
		{"a rebuild in progress", put(bucketMeta, keyRebuilding, []byte{1}), Finding{"database", "meta", `unknown entry "rebuilding"`}},
		{"a missing bucket", func(tx *Tx) error { return tx.deleteBucket(bucketTasks) },
			Finding{"database", "tasks", "bucket is missing"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "vault.db"))
			fill(t, s, 2)
			update(t, s, func(tx *Tx) error { return tx.AddEvent(model.Event{At: testTime, Kind: "order.created"}) })
			if err := alter(s, row.change); err != nil {
				t.Fatalf("change database: %v", err)
			}
			findings := check(t, s)
			for _, f := range findings {
				if f.Kind == row.want.Kind && f.Subject == row.want.Subject && strings.Contains(f.Problem, row.want.Problem) {
					return
				}
			}
			t.Errorf("got findings %+v\nwant %+v", findings, row.want)
		})
	}
}

func TestCheckReportsEventAfterLostTail(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "vault.db"))
	fill(t, s, 2)
	update(t, s, func(tx *Tx) error {
		e, err := events.get(tx, 3)
		return errors.Join(err, events.purge(tx, 3, &e), tx.AddEvent(model.Event{At: testTime, Kind: "order.created"}))
	})
	if findings := check(t, s); len(findings) != 1 || findings[0].Subject != "3" {
		t.Errorf("got findings %+v, want one about entry 3", findings)
	}
}

// The hash chain is valid even if an entry contains a name that isn't valid UTF-8.
func TestEventWithInvalidUTF8KeepsItsHash(t *testing.T) {
	s := openNew(t)
	update(t, s, func(tx *Tx) error {
		return tx.AddEvent(model.Event{At: testTime.In(time.FixedZone("x", 3600)), Actor: model.Actor{Kind: "key", Name: "caf\xe9"},
			Kind: "file.filed", Detail: map[string]string{"<&>": "\xff"}})
	})
}
