package store

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// NewUserID returns the ID for a new user.
func (t *Tx) NewUserID() (uint64, error) { return users.nextID(t) }

// User returns a user. The error has kind errs.NotFound if there is none.
func (t *Tx) User(id uint64) (model.User, error) { return users.getCached(t, &t.caches.users, id) }

// Users returns all users, including disabled ones, sorted by ID.
func (t *Tx) Users() ([]model.User, error) { return users.all(t) }

// UserByName returns the user with this username, ignoring case.
func (t *Tx) UserByName(name string) (user model.User, found bool, err error) {
	id, ok := decodeUint64(t.bucket(bucketUserNames).Get(userNameKey(name)))
	if !ok {
		return user, false, nil
	}
	user, err = users.getCached(t, &t.caches.users, id)
	if errs.KindOf(err) == errs.NotFound {
		err = fmt.Errorf("%s: user %d is missing: %w", bucketUserNames, id, ErrDamaged)
	}
	return user, err == nil, err
}

// PutUser creates or updates a user. It returns an error if another user has the same
// username.
func (t *Tx) PutUser(u model.User) error {
	names, key := t.bucket(bucketUserNames), userNameKey(u.Name)
	owner, taken := decodeUint64(names.Get(key))
	if taken && owner != u.ID {
		return fmt.Errorf("put user %d: user %d has the same name", u.ID, owner)
	}
	old, existed, err := users.find(t, u.ID)
	if err != nil {
		return err
	}
	if oldKey := userNameKey(old.Name); existed && !bytes.Equal(oldKey, key) {
		if err := names.Delete(oldKey); err != nil {
			return fmt.Errorf("index user %d: %w", u.ID, err)
		}
	}
	if !taken {
		if err := names.Put(key, encodeUint64(u.ID)); err != nil {
			return fmt.Errorf("index user %d: %w", u.ID, err)
		}
	}
	return users.put(t, u.ID, u)
}

// userNameKey returns the key of a user in the index of usernames.
func userNameKey(name string) []byte { return []byte(model.Fold(name)) }

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

// ListViews returns all views of lists, sorted by ID. Each page of a list reads them, so they are cached.
func (t *Tx) ListViews() (list []model.View, err error) {
	c := t.bucket(views.bucketName).Cursor()
	for key, raw := c.First(); key != nil && err == nil; key, raw = c.Next() {
		var v model.View
		v, err = t.caches.views.decode(views.bucketName, key, raw)
		list = append(list, v)
	}
	return list, err
}

// PutView updates a view of a list. A view without an ID is new and gets one.
func (t *Tx) PutView(v *model.View) (err error) {
	if v.ID == 0 {
		if v.ID, err = views.nextID(t); err != nil {
			return err
		}
	}
	return views.put(t, v.ID, *v)
}

// RemoveView deletes a view of a list.
func (t *Tx) RemoveView(id uint64) error { return views.remove(t, id) }
