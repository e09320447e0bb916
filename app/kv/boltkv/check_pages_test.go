package boltkv

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

func FuzzCheckPages(f *testing.F) {
	content := make([]byte, 5*4096)
	f.Add(content)
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "seed.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: 1024})
	if err != nil {
		f.Fatalf("open database with bbolt: %v", err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range byte(100) {
			err = errors.Join(err, b.Put([]byte{'k', i}, make([]byte, i)))
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		f.Fatalf("close database: %v", err)
	}
	if content, err = os.ReadFile(path); err != nil {
		f.Fatalf("read file: %v", err)
	}
	f.Add(content[:16*1024])
	f.Fuzz(func(t *testing.T, content []byte) {
		found := 0
		valid, err := checkPages(bytes.NewReader(content), int64(len(content)), func(string, string) { found++ })
		if err != nil {
			t.Errorf("checkPages: %v", err)
		}
		if !valid && found == 0 {
			t.Error("checkPages returned false without reporting a problem")
		}
	})
}
