package vaulttest

import (
	"bytes"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// FlipBit flips one bit of the first key or value of a bucket in a closed vault.db, as a failing disk would.
func FlipBit(t testing.TB, path, bucket string, bit int, inKey bool) {
	t.Helper()
	updateBucket(t, path, bucket, func(b *bolt.Bucket) error {
		key, value := b.Cursor().First()
		key, value = bytes.Clone(key), bytes.Clone(value)
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

// DeleteFirst deletes the first entry of a bucket in a closed vault.db.
func DeleteFirst(t testing.TB, path, bucket string) {
	t.Helper()
	updateBucket(t, path, bucket, func(b *bolt.Bucket) error {
		key, _ := b.Cursor().First()
		return b.Delete(bytes.Clone(key))
	})
}

// DeleteBySuffix deletes the first entry whose key has a suffix from a bucket in a closed vault.db.
func DeleteBySuffix(t testing.TB, path, bucket string, suffix []byte) {
	t.Helper()
	updateBucket(t, path, bucket, func(b *bolt.Bucket) error {
		c := b.Cursor()
		for key, _ := c.First(); key != nil; key, _ = c.Next() {
			if bytes.HasSuffix(key, suffix) {
				return c.Delete()
			}
		}
		t.Fatalf("%s has no key that ends with %x", bucket, suffix)
		return nil
	})
}

// updateBucket runs change in a transaction on a closed vault.db.
func updateBucket(t testing.TB, path, bucket string, change func(*bolt.Bucket) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket([]byte(bucket))) }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
