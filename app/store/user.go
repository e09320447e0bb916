package store

import (
	"bytes"
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
