package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"deedkeep/app/model"
)

func TestMigrations(t *testing.T) {
	step := func(schema uint64, err error) migration {
		return migration{schema: schema, run: func(tx *bolt.Tx) error {
			b := tx.Bucket(bucketMeta)
			trail := append(bytes.Clone(b.Get([]byte("trail"))), byte('0'+schema))
			return errors.Join(b.Put([]byte("trail"), trail), err)
		}}
	}
	broken := errors.New("broken step")
	for _, row := range []struct {
		name  string
		want  uint64
		list  []migration
		err   string // substring of the error
		trail string
	}{
		{"up to date", 1, nil, errUpToDate.Error(), ""},
		{"one step", 2, []migration{step(2, nil)}, "", "2"},
		{"earlier steps are skipped", 3, []migration{step(1, nil), step(2, nil), step(3, nil)}, "", "23"},
		{"a gap", 4, []migration{step(2, nil), step(4, nil)}, "can't migrate schema 2", ""},
		{"no migrations", 2, nil, "can't migrate schema 1", ""},
		{"out of order", 3, []migration{step(3, nil), step(2, nil)}, "can't migrate schema 2", ""},
		{"a failed step undoes all", 3, []migration{step(2, nil), step(3, broken)}, "migrate to schema 3: broken step", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t)
			err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(1)) })
			if err != nil {
				t.Fatalf("change database: %v", err)
			}
			err = s.db.Update(func(tx *bolt.Tx) error { return applyMigrations(tx, "fp", row.want, row.list) })
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("got error %v, want %q", err, row.err)
			}
			err = s.db.Update(func(tx *bolt.Tx) error {
				b := tx.Bucket(bucketMeta)
				schema, _ := decodeUint64(b.Get(keySchema))
				want := uint64(1)
				if row.trail != "" {
					want = row.want
				}
				if string(b.Get([]byte("trail"))) != row.trail || schema != want {
					t.Errorf("got trail %s, schema %d; want %s, %d", b.Get([]byte("trail")), schema, row.trail, want)
				}
				return errors.Join(b.Delete([]byte("trail")), b.Put(keySchema, encodeUint64(Schema)))
			})
			if err != nil {
				t.Errorf("reset schema: %v", err)
			}
		})
	}
	for i, m := range migrations {
		if m.schema != uint64(i)+2 {
			t.Errorf("migration %d has schema %d, want %d", i, m.schema, i+2)
		}
	}
	if Schema != uint64(len(migrations))+1 {
		t.Errorf("got %d migrations for schema %d, want one fewer than the schema", len(migrations), Schema)
	}
}

// downgrade converts a database with the current schema to an older one, at least schema 2.
func downgrade(t *testing.T, path string, schema uint64) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatalf("open database with bbolt: %v", err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		if schema > 8 {
			return tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(schema))
		}
		list, err := tx.CreateBucket(obsoleteInstrumentList)
		if err != nil {
			return err
		}
		err = tx.Bucket(bucketRunsheetRows).ForEach(func(key, _ []byte) error { return putKeyOnly(list, key) })
		if err = errors.Join(err, tx.DeleteBucket(bucketRunsheetRows)); err != nil || schema == 8 {
			return errors.Join(err, tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(8)))
		}
		counters := tx.Bucket(bucketCounters)
		err = errors.Join(tx.DeleteBucket(bucketOCRQueue), counters.Delete([]byte(CountOCRFiles)), counters.Delete([]byte(CountOCRPages)))
		if err != nil || schema == 7 {
			return errors.Join(err, tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(7)))
		}
		for _, name := range append(titleBuckets(), obsoleteInstrumentList) {
			if err := tx.DeleteBucket(name); err != nil && !bytes.Equal(name, bucketRunsheetRows) {
				return err
			}
		}
		if err := tx.Bucket(bucketWorkspace).Delete(keyDocumentTypes); err != nil || schema == 6 {
			return errors.Join(err, tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(6)))
		}
		for i, name := range sortIndexBuckets() {
			old, err := tx.CreateBucket(obsoleteSortBuckets()[i])
			if err != nil {
				return err
			}
			err = tx.Bucket(name).ForEach(func(k, raw []byte) error {
				if k[0] == tagUpdated {
					return nil
				}
				return old.Put(k, raw)
			})
			if err := errors.Join(err, tx.DeleteBucket(name)); err != nil {
				return err
			}
		}
		if schema == 5 {
			return tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(5))
		}
		if err := tx.DeleteBucket(bucketChanges); err != nil || schema == 4 {
			return errors.Join(err, tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(4)))
		}
		for _, name := range obsoleteSortBuckets() {
			if err := tx.DeleteBucket(name); err != nil {
				return err
			}
		}
		if schema == 3 {
			return tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(3))
		}
		err = errors.Join(tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(2)), tx.Bucket(bucketCounters).Delete([]byte(CountFileRecords)),
			tx.Bucket(bucketCounters).Delete([]byte(CountTrashed)))
		for _, name := range append(slices.DeleteFunc(listIndexBuckets(), isSortIndex), bucketCounts, bucketStoredResponses,
			bucketStoredResponseTimes, bucketUsers, bucketUserNames, bucketSessions, bucketSessionUsers) {
			err = errors.Join(err, tx.DeleteBucket(name))
		}
		numbers, e := tx.CreateBucket([]byte("order_numbers"))
		if err = errors.Join(err, e); err != nil {
			return err
		}
		return tx.Bucket(bucketOrders).ForEach(func(k, raw []byte) error {
			return numbers.Put(append([]byte("n\x00"), k...), nil) // the rest of the key doesn't matter
		})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("close database: %v", err)
	}
}

// isSortIndex reports whether a bucket is a sort index.
func isSortIndex(name []byte) bool {
	return slices.ContainsFunc(sortIndexBuckets(), func(other []byte) bool { return bytes.Equal(name, other) })
}

// readAll returns all entries of a database file by bucket and key.
func readAll(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("open database with bbolt: %v", err)
	}
	all := map[string]string{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error { all[string(name)+" "+string(k)] = string(v); return nil })
		})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("close database: %v", err)
	}
	return all
}

// If a migration that needs several transactions is interrupted after any of them, the file is
// still valid for the previous schema. The next Open completes the migration, and then the indexes
// are the same as in a database that always had them.
func TestInterruptedMigration(t *testing.T) {
	for schema, cuts := range map[uint64][]int{2: {0, 1, 2, 3, 4, 5, 6, 7, 10, 99}, 3: {0, 1, 2, 3, 4, 5, 99}, 4: {0, 99}, 5: {0, 2, 99},
		6: {0, 99}, 7: {0, 1, 2, 3, 4, 5, 6, 99},
		8: {0, 1, 2, 3, 99}, 9: {0, 99}, 10: {0, 99}, 11: {0, 99}} {
		t.Run(fmt.Sprint(schema), func(t *testing.T) { interruptMigration(t, schema, cuts) })
	}
}

// interruptMigration interrupts the migration from a schema after each number of commits in cuts. A
// cut of 99 means that the migration isn't interrupted.
func interruptMigration(t *testing.T, schema uint64, cuts []int) {
	original := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, original)
	fill(t, s, 3)
	fillMany(t, s)
	if schema > 2 { // schema 2 has no trash
		update(t, s, func(tx *Tx) error {
			_, err := putScan(tx, func(f *model.File) { f.Trashed = trashedAt(1, "") })
			return err
		})
	}
	if schema > 6 { // schema 7 added instruments
		update(t, s, func(tx *Tx) error { return putInstruments(tx, smallBatch+10) })
	}
	want := derivedContents(t, s)
	if err := s.Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	downgrade(t, original, schema)
	before, file := readAll(t, original), readFile(t, original)
	for _, after := range cuts {
		path := filepath.Join(t.TempDir(), "vault.db")
		overwrite(file)(t, path)
		db, err := new(fileOpener).openFile(path)
		if err != nil {
			t.Fatalf("open database: %v", err)
		}
		cut := &Store{db: db, fingerprint: "fp", rebuildBatch: smallBatch}
		commits := 0
		cut.commitTx = func(tx *bolt.Tx) error {
			if commits++; commits > after {
				return errors.Join(tx.Rollback(), errors.New("interrupted"))
			}
			return tx.Commit()
		}
		if err := cut.upgrade(t.Context()); (err == nil) != (after == 99) {
			t.Errorf("after %d commits: got %v, want an error: %v", after, err, after != 99)
		}
		if err := db.Close(); err != nil {
			t.Fatalf("close database: %v", err)
		}
		if now := readAll(t, path); after != 99 {
			maps.DeleteFunc(now, func(k, _ string) bool { _, known := before[k]; return !known })
			if !maps.Equal(now, before) {
				t.Errorf("after %d commits: the entries of the old schema changed, want them unchanged", after)
			}
		}
		s = open(t, path)
		if now := derivedContents(t, s); !maps.Equal(now, want) {
			t.Errorf("after %d commits: got %d index entries, want %d, all equal", after, len(now), len(want))
		}
		if findings := check(t, s); len(findings) > 0 {
			t.Errorf("after %d commits: got findings %+v, want none", after, findings)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("close store: %v", err)
		}
	}
}

// The migration to schema 9 keeps an instrument whose record is damaged: Check reports it, and its
// runsheet can't be read, as before the migration.
func TestMigrationKeepsDamagedInstrument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	fill(t, s, 2)
	update(t, s, func(tx *Tx) error { return putInstruments(tx, 3) })
	err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketInstruments).Put(encodeUint64(2), []byte("torn")) })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatalf("damage instrument 2: %v", err)
	}
	downgrade(t, path, 8)
	s = open(t, path)
	defer s.Close() //nolint:errcheck // only read
	view(t, s, func(tx *Tx) error {
		if got, _, err := tx.RunsheetKeys(1); !errors.Is(err, ErrDamaged) {
			t.Errorf("RunsheetKeys(1) = %+v, %v; want %v", got, err, ErrDamaged)
		}
		if got, want := tx.InstrumentIDs(1), []uint64{1, 2, 3}; !slices.Equal(got, want) {
			t.Errorf("InstrumentIDs(1) = %v, want %v", got, want)
		}
		_, damage, err := tx.RunsheetKeys(2)
		return errors.Join(damage, err)
	})
	reported := func(f Finding) bool { return f.Kind == "instrument" && f.Subject == "2" }
	if findings := check(t, s); !slices.ContainsFunc(findings, reported) {
		t.Errorf("got findings %+v, want one about instrument 2", findings)
	}
}

func TestMigrationWithCanceledContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	downgrade(t, path, 2)
	db, err := new(fileOpener).openFile(path)
	if err != nil {
		t.Fatalf("open database: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &Store{db: db, fingerprint: "fp", rebuildBatch: smallBatch, commitTx: func(tx *bolt.Tx) error { cancel(); return tx.Commit() }}
	if err := s.upgrade(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("close database: %v", err)
	}
	if findings := check(t, open(t, path)); len(findings) > 0 {
		t.Errorf("got findings %+v, want none", findings)
	}
}
