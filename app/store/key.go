package store

import (
	"encoding/hex"
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// NewKeyID returns the ID for a new API key.
func (t *Tx) NewKeyID() (uint64, error) { return keys.nextID(t) }

// Key returns an API key. The error has kind errs.NotFound if it doesn't exist.
func (t *Tx) Key(id uint64) (model.Key, error) { return keys.getCached(t, &t.caches.keys, id) }

// Keys returns all API keys, including revoked ones, sorted by ID.
func (t *Tx) Keys() ([]model.Key, error) { return keys.all(t) }

// KeyByHash returns the API key whose token has this SHA-256 hash.
func (t *Tx) KeyByHash(hash [32]byte) (key model.Key, found bool, err error) {
	id, ok := decodeUint64(t.bucket(bucketKeyHashes).Get(hash[:]))
	if !ok {
		return key, false, nil
	}
	key, err = keys.getCached(t, &t.caches.keys, id)
	if errs.KindOf(err) == errs.NotFound {
		err = fmt.Errorf("%s: key %d is missing: %w", bucketKeyHashes, id, ErrDamaged)
	}
	return key, err == nil, err
}

// PutKey creates or updates an API key. The hash must be unique and can't be changed later.
func (t *Tx) PutKey(k model.Key) error {
	hash, ok := hashOfKey(&k)
	if !ok {
		return fmt.Errorf("put key %d: invalid SHA-256 hash", k.ID)
	}
	old, existed, err := keys.find(t, k.ID)
	if err != nil {
		return err
	}
	if owner, taken := decodeUint64(t.bucket(bucketKeyHashes).Get(hash)); taken && owner != k.ID || existed && old.Hash != k.Hash {
		return fmt.Errorf("put key %d: hash was changed or belongs to another key", k.ID)
	}
	if err := t.bucket(bucketKeyHashes).Put(hash, encodeUint64(k.ID)); err != nil {
		return fmt.Errorf("index key %d: %w", k.ID, err)
	}
	return keys.put(t, k.ID, k)
}

// hashOfKey returns the hash in binary form. ok is false if it is not a SHA-256 hash.
func hashOfKey(k *model.Key) (hash []byte, ok bool) {
	hash, err := hex.DecodeString(k.Hash)
	return hash, err == nil && len(hash) == 32
}
