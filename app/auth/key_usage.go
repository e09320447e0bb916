package auth

import (
	"errors"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

// keyUsage buffers the last use of each key, so that a request doesn't need a disk sync.
// A crash loses at most the last second of uses.
type keyUsage struct {
	mu   sync.Mutex
	uses map[uint64]keyUse
}

type keyUse struct {
	last  time.Time
	count uint64
}

func (u *keyUsage) record(key uint64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	use := u.uses[key]
	if use.last.After(at) {
		at = use.last // concurrent requests may arrive out of order
	}
	u.uses[key] = keyUse{at, use.count + 1}
}

// Drain empties the buffer. It returns two functions: write writes the contents to the
// database, and undo puts them back into the buffer if writing fails.
func (u *keyUsage) Drain() (write func(*store.Tx) error, undo func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.uses) == 0 {
		return nil, nil
	}
	uses := u.uses
	u.uses = map[uint64]keyUse{}
	return func(t *store.Tx) error { return u.write(t, uses) }, func() { u.restore(uses) }
}

func (u *keyUsage) write(t *store.Tx, uses map[uint64]keyUse) error {
	for id, use := range uses {
		if err := u.add(t, id, use); err != nil {
			return err
		}
	}
	return nil
}

func (u *keyUsage) add(t *store.Tx, id uint64, use keyUse) error {
	key, err := t.Key(id)
	if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) {
		return nil // skip this key, so that the others are written
	}
	if err != nil {
		return err
	}
	key.LastUsedAt, key.UseCount = &use.last, key.UseCount+use.count
	return t.PutKey(key)
}

func (u *keyUsage) restore(uses map[uint64]keyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, old := range uses {
		use, exists := u.uses[id]
		if !exists {
			use.last = old.last
		}
		u.uses[id] = keyUse{use.last, use.count + old.count}
	}
}
