package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv"

	bolt "go.etcd.io/bbolt"
)

func TestMigrations(t *testing.T) {
	step := func(schema uint64, err error) migration {
		return migration{schema: schema, run: func(tx *Tx) error {
			b := tx.bucket(bucketMeta)
			trail := append(bytes.Clone(b.Get([]byte("trail"))), byte('0'+schema-20))
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
		{"up to date", 20, nil, errUpToDate.Error(), ""},
		{"one step", 21, []migration{step(21, nil)}, "", "1"},
		{"earlier steps are skipped", 22, []migration{step(20, nil), step(21, nil), step(22, nil)}, "", "12"},
		{"a gap", 23, []migration{step(21, nil), step(23, nil)}, "can't migrate schema 21", ""},
		{"no migrations", 21, nil, "can't migrate schema 20", ""},
		{"out of order", 22, []migration{step(22, nil), step(21, nil)}, "can't migrate schema 21", ""},
		{"a failed step undoes all", 22, []migration{step(21, nil), step(22, broken)}, "migrate to schema 22: broken step", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t)
			err := alter(s, func(tx *Tx) error { return tx.bucket(bucketMeta).Put(keySchema, encodeUint64(20)) })
			if err != nil {
				t.Fatalf("change database: %v", err)
			}
			err = alter(s, func(tx *Tx) error { return applyMigrations(tx, "fp", row.want, row.list) })
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("got error %v, want %q", err, row.err)
			}
			err = alter(s, func(tx *Tx) error {
				b := tx.bucket(bucketMeta)
				schema, _ := decodeUint64(b.Get(keySchema))
				want := uint64(20)
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
		if want := FirstSchema + uint64(i) + 1; m.schema != want {
			t.Errorf("migration %d has schema %d, want %d", i, m.schema, want)
		}
	}
	if Schema != FirstSchema+uint64(len(migrations)) {
		t.Errorf("got %d migrations for schema %d, want one for each schema after %d", len(migrations), Schema, FirstSchema)
	}
}

// setSchema changes the schema number of a database.
func setSchema(t *testing.T, path string, schema uint64) {
	t.Helper()
	updateRaw(t, path, func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keySchema, encodeUint64(schema)) })
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

// If a migration is interrupted, the file is unchanged. The next Open completes the migration, and then the indexes
// are the same as in a database that always had them.
func TestInterruptedMigration(t *testing.T) {
	for schema := uint64(FirstSchema); schema < Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.db")
			s := open(t, path)
			fill(t, s, 3)
			fillMany(t, s)
			update(t, s, func(tx *Tx) error { return putInstruments(tx, smallBatch+10) })
			withoutLog := func(s *Store) map[string]string { // the migration adds an entry to the log
				all := derivedContents(t, s)
				maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, string(bucketEventIndex)) })
				return all
			}
			want := withoutLog(s)
			if err := s.Close(); err != nil {
				t.Fatalf("close store: %v", err)
			}
			setSchema(t, path, schema)
			before := readAll(t, path)
			db, err := boltkv.Open(t.Context(), path, boltkv.Options{})
			if err != nil {
				t.Fatalf("open database: %v", err)
			}
			cut := newStore(db, testOptions())
			cut.commitTx = func(tx kv.Tx) error { return errors.Join(tx.Rollback(), errors.New("interrupted")) }
			if err := cut.upgrade(t.Context(), testOptions()); err == nil {
				t.Error("upgrade() = nil, want the error of the commit")
			}
			if err := db.Close(false); err != nil {
				t.Fatalf("close database: %v", err)
			}
			if now := readAll(t, path); !maps.Equal(now, before) {
				t.Error("the interrupted migration changed entries")
			}
			s = open(t, path)
			if now := withoutLog(s); !maps.Equal(now, want) {
				t.Errorf("got %d index entries, want %d, all equal", len(now), len(want))
			}
			if findings := check(t, s); len(findings) > 0 {
				t.Errorf("got findings %+v, want none", findings)
			}
			if err := s.Close(); err != nil {
				t.Fatalf("close store: %v", err)
			}
		})
	}
}
