package store

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
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
		says  string
		trail string
	}{
		{"nothing to do", 1, nil, errNothingToDo.Error(), ""},
		{"one step", 2, []migration{step(2, nil)}, "", "2"},
		{"those before are left out", 3, []migration{step(1, nil), step(2, nil), step(3, nil)}, "", "23"},
		{"a gap", 4, []migration{step(2, nil), step(4, nil)}, "no way leads from schema 2", ""},
		{"no list", 2, nil, "no way leads from schema 1", ""},
		{"out of order", 3, []migration{step(3, nil), step(2, nil)}, "no way leads from schema 2", ""},
		{"a step that fails undoes all", 3, []migration{step(2, nil), step(3, broken)}, "migrate to schema 3: broken step", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openNew(t)
			err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put(keySchema, number(1)) })
			if err != nil {
				t.Fatal(err)
			}
			err = s.db.Update(func(tx *bolt.Tx) error { return prepare(tx, "fp", row.want, row.list) })
			if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
				t.Errorf("said %v, want %q", err, row.says)
			}
			err = s.db.Update(func(tx *bolt.Tx) error {
				b := tx.Bucket(bucketMeta)
				schema, _ := numberOf(b.Get(keySchema))
				want := uint64(1)
				if row.trail != "" {
					want = row.want
				}
				if string(b.Get([]byte("trail"))) != row.trail || schema != want {
					t.Errorf("trail %s, schema %d", b.Get([]byte("trail")), schema)
				}
				return errors.Join(b.Delete([]byte("trail")), b.Put(keySchema, number(Schema)))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for i, m := range migrations {
		if m.schema != uint64(i)+2 {
			t.Errorf("migration %d leads to schema %d", i, m.schema)
		}
	}
	if Schema != uint64(len(migrations))+1 {
		t.Errorf("schema %d, %d migrations", Schema, len(migrations))
	}
}
