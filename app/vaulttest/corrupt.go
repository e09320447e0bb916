package vaulttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// FlipBit flips one bit in the first key or value of a bucket, as a failing disk might. vault.db must be closed.
func FlipBit(t testing.TB, path, bucket string, bit int, inKey bool) {
	t.Helper()
	FlipBitOf(t, path, bucket, Entries(t, path, bucket)[0].Key, bit, inKey)
}

// FlipBitOf flips one bit in a key or its value. vault.db must be closed.
func FlipBitOf(t testing.TB, path, bucket string, key []byte, bit int, inKey bool) {
	t.Helper()
	updateBucket(t, path, bucket, func(b *bolt.Bucket) error {
		key, value := bytes.Clone(key), bytes.Clone(b.Get(key))
		if inKey {
			if err := b.Delete(key); err != nil {
				return err
			}
			key[bit/8] ^= 1 << (bit % 8)
		} else {
			value[bit/8] ^= 1 << (bit % 8)
		}
		return b.Put(key, value)
	})
}

// Entry is an entry of a bucket.
type Entry struct{ Key, Value []byte }

// Entries returns the entries of a bucket, which must have some. vault.db must be closed.
func Entries(t testing.TB, path, bucket string) (list []Entry) {
	t.Helper()
	updateBucket(t, path, bucket, func(b *bolt.Bucket) error {
		return b.ForEach(func(key, value []byte) error {
			list = append(list, Entry{bytes.Clone(key), bytes.Clone(value)})
			return nil
		})
	})
	if len(list) == 0 {
		t.Fatalf("bucket %s is empty", bucket)
	}
	return list
}

// DeleteFirst deletes the first entry of a bucket. vault.db must be closed.
func DeleteFirst(t testing.TB, path, bucket string) {
	t.Helper()
	updateBucket(t, path, bucket, func(b *bolt.Bucket) error {
		key, _ := b.Cursor().First()
		return b.Delete(bytes.Clone(key))
	})
}

// DeleteBySuffix deletes the first entry of a bucket whose key has the given suffix. vault.db must be closed.
func DeleteBySuffix(t testing.TB, path, bucket string, suffix []byte) {
	t.Helper()
	updateBucket(t, path, bucket, func(b *bolt.Bucket) error {
		c := b.Cursor()
		for key, _ := c.First(); key != nil; key, _ = c.Next() {
			if bytes.HasSuffix(key, suffix) {
				return c.Delete()
			}
		}
		t.Fatalf("bucket %s has no key with the suffix %x", bucket, suffix)
		return nil
	})
}

// updateBucket runs change in a transaction on a closed vault.db.
func updateBucket(t testing.TB, path, bucket string, change func(*bolt.Bucket) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatalf("open the database: %v", err)
	}
	if err := db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket([]byte(bucket))) }); err != nil {
		t.Fatalf("update bucket %s: %v", bucket, err)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("close the database: %v", err)
	}
}

// ReplaceInDatabase replaces all occurrences of old in the database file of a closed vault. replacement must have the
// same length.
func ReplaceInDatabase(t *testing.T, dir, old, replacement string) {
	t.Helper()
	path := filepath.Join(dir, "vault.db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the database: %v", err)
	}
	if len(old) != len(replacement) || !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("the database doesn't contain %q, or %q has another length", old, replacement)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(raw, []byte(old), []byte(replacement)), 0o600); err != nil {
		t.Fatalf("write the database: %v", err)
	}
}

// AddOrphan stores a document that no record refers to, and returns its path.
func AddOrphan(t *testing.T, dir string, body []byte) string {
	t.Helper()
	sum := sha256.Sum256(body)
	name := hex.EncodeToString(sum[:])
	path := filepath.Join(dir, "blobs", name[:2], name)
	if err := os.WriteFile(path, body, 0o400); err != nil {
		t.Fatalf("store an orphan: %v", err)
	}
	return path
}

// FlipByte returns a function that changes one byte of a file. at is the position of the byte as a fraction (0 to 1) of
// the file size.
func FlipByte(at float64) func(path string) error {
	return func(path string) error {
		raw, err := os.ReadFile(path)
		if err != nil || len(raw) == 0 {
			return err
		}
		raw[int(at*float64(len(raw)-1))] ^= 0x40
		return os.WriteFile(path, raw, 0o600)
	}
}
