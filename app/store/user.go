package store

import (
	"bytes"
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// NewUserID gives the next number of a user.
func (t *Tx) NewUserID() (uint64, error) { return users.nextID(t) }

// User reads one; NotFound when absent.
func (t *Tx) User(id uint64) (model.User, error) { return users.getCached(t, &t.caches.users, id) }

// Users reads all in order of their numbers, disabled ones too.
func (t *Tx) Users() ([]model.User, error) { return users.all(t) }

// UserByName reads the user who signs in with this name; found is false when there is none.
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

// PutUser writes one, new or changed. A name that is another's is an error.
func (t *Tx) PutUser(u model.User) error {
	names, key := t.bucket(bucketUserNames), userNameKey(u.Name)
	owner, taken := decodeUint64(names.Get(key))
	if taken && owner != u.ID {
		return fmt.Errorf("put user %d: the name is that of user %d", u.ID, owner)
	}
	old, known, err := users.find(t, u.ID)
	if err != nil {
		return err
	}
	if before := userNameKey(old.Name); known && !bytes.Equal(before, key) {
		if err := names.Delete(before); err != nil {
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

func userNameKey(name string) []byte { return []byte(model.Fold(name)) }
