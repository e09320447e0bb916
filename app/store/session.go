package store

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"deedkeep/app/model"
)

// Session returns the session whose token has this SHA-256 hash.
func (t *Tx) Session(hash []byte) (s model.Session, found bool, err error) {
	raw := t.bucket(bucketSessions).Get(hash)
	if raw == nil {
		return s, false, nil
	}
	err = decodeRecord(bucketSessions, hash, raw, &s)
	return s, err == nil, err
}

// PutSession creates or updates a session.
func (t *Tx) PutSession(s model.Session) error {
	hash, err := hex.DecodeString(s.Hash)
	if err != nil || len(hash) != 32 {
		return fmt.Errorf("put session of user %d: invalid SHA-256 hash", s.UserID)
	}
	raw, err := encodeRecord(bucketSessions, hash, s)
	if err != nil {
		return err
	}
	if err := t.bucket(bucketSessions).Put(hash, raw); err != nil {
		return fmt.Errorf("put session of user %d: %w", s.UserID, err)
	}
	index, key := t.bucket(bucketSessionUsers), sessionUserKey(s.UserID, hash)
	if index.Get(key) != nil {
		return nil
	}
	if err := putKeyOnly(index, key); err != nil {
		return fmt.Errorf("index session of user %d: %w", s.UserID, err)
	}
	return nil
}

// RemoveSession deletes a session. Its token is no longer valid after that.
func (t *Tx) RemoveSession(s model.Session) error {
	hash, err := hex.DecodeString(s.Hash)
	if err != nil {
		return fmt.Errorf("remove session of user %d: invalid SHA-256 hash", s.UserID)
	}
	if err := t.bucket(bucketSessions).Delete(hash); err != nil {
		return fmt.Errorf("remove session of user %d: %w", s.UserID, err)
	}
	if err := t.bucket(bucketSessionUsers).Delete(sessionUserKey(s.UserID, hash)); err != nil {
		return fmt.Errorf("remove session of user %d: %w", s.UserID, err)
	}
	return nil
}

// SessionsOfUser returns the sessions of a user in no particular order. It skips damaged
// sessions, because they can't be used to sign in.
func (t *Tx) SessionsOfUser(user uint64) (list []model.Session) {
	prefix := encodeUint64(user)
	c := t.bucket(bucketSessionUsers).Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		if s, found, err := t.Session(k[len(prefix):]); found && err == nil {
			list = append(list, s)
		}
	}
	return list
}

// EachSession calls fn with every session until fn returns false. It skips damaged
// sessions, because they can't be used to sign in.
func (t *Tx) EachSession(fn func(s model.Session) bool) {
	c := t.bucket(bucketSessions).Cursor()
	for k, raw := c.First(); k != nil; k, raw = c.Next() {
		var s model.Session
		if decodeRecord(bucketSessions, k, raw, &s) == nil && !fn(s) {
			return
		}
	}
}

// sessionUserKey returns the key of a session in the index of sessions by user.
func sessionUserKey(user uint64, hash []byte) []byte { return append(encodeUint64(user), hash...) }
