package auth

import (
	"errors"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

// keyUsage buffers the last use of each key, so that a request costs no fsync. A crash
// loses at most the last second.
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
	n := u.uses[key]
	if n.last.After(at) {
		at = n.last // concurrent requests may arrive out of order
	}
	u.uses[key] = keyUse{at, n.count + 1}
}

// Drain empties the buffer. It returns functions that write the content and, after an
// error, put it back.
func (u *keyUsage) Drain() (write func(*store.Tx) error, undo func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.uses) == 0 {
		return nil, nil
	}
	seen := u.uses
	u.uses = map[uint64]keyUse{}
	return func(t *store.Tx) error { return u.write(t, seen) }, func() { u.restore(seen) }
}

func (u *keyUsage) write(t *store.Tx, seen map[uint64]keyUse) error {
	for id, n := range seen {
		if err := u.add(t, id, n); err != nil {
			return err
		}
	}
	return nil
}

func (u *keyUsage) add(t *store.Tx, id uint64, n keyUse) error {
	key, err := t.Key(id)
	if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) {
		return nil // skip it so that the others are written
	}
	if err != nil {
		return err
	}
	key.LastUsedAt, key.UseCount = &n.last, key.UseCount+n.count
	return t.PutKey(key)
}

func (u *keyUsage) restore(seen map[uint64]keyUse) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, old := range seen {
		n, later := u.uses[id]
		if !later {
			n.last = old.last
		}
		u.uses[id] = keyUse{n.last, n.count + old.count}
	}
}
