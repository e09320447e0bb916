package auth

import (
	"errors"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

// usage gathers the last use of each key, so that no request costs a sync for it.
// A crash loses at most the last second.
type usage struct {
	mu   sync.Mutex
	seen map[uint64]use
}

type use struct {
	last  time.Time
	count uint64
}

func (u *usage) note(key uint64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := u.seen[key]
	if n.last.After(at) {
		at = n.last // two requests may come here in another order than they read the clock
	}
	u.seen[key] = use{at, n.count + 1}
}

// Take empties the buffer and returns how to write its content, or to put it back.
func (u *usage) Take() (write func(*store.Tx) error, undo func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.seen) == 0 {
		return nil, nil
	}
	seen := u.seen
	u.seen = map[uint64]use{}
	return func(t *store.Tx) error { return u.write(t, seen) }, func() { u.giveBack(seen) }
}

func (u *usage) write(t *store.Tx, seen map[uint64]use) error {
	for id, n := range seen {
		if err := u.add(t, id, n); err != nil {
			return err
		}
	}
	return nil
}

func (u *usage) add(t *store.Tx, id uint64, n use) error {
	key, err := t.Key(id)
	if errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged) {
		return nil // a damaged key opens nothing, and must not keep the others' uses waiting
	}
	if err != nil {
		return err
	}
	key.LastUsedAt, key.UseCount = &n.last, key.UseCount+n.count
	return t.PutKey(key)
}

func (u *usage) giveBack(seen map[uint64]use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, old := range seen {
		n, later := u.seen[id]
		if !later {
			n.last = old.last
		}
		u.seen[id] = use{n.last, n.count + old.count}
	}
}
