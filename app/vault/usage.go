package vault

import (
	"context"
	"errors"
	"sync"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// usage gathers the last use of each key, so that no request costs a sync for it.
// A crash loses at most the last second.
type usage struct {
	v    *Vault
	mu   sync.Mutex
	seen map[uint64]use
}

type use struct {
	last  time.Time
	count uint64
}

const usageEvery = time.Second

func (u *usage) note(key uint64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := u.seen[key]
	if n.last.After(at) {
		at = n.last // two requests may come here in another order than they read the clock
	}
	u.seen[key] = use{at, n.count + 1}
}

func (u *usage) run(ctx context.Context) {
	tick := time.NewTicker(usageEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err := u.flush(ctx)
			if title.KindOf(err) == title.Closing {
				return // read-only until a restart; what is gathered goes with it
			}
			if err != nil && ctx.Err() == nil {
				u.v.log.Error("last use of keys", "error", err)
			}
		}
	}
}

// flush writes what was gathered; what could not be written is kept for the next.
func (u *usage) flush(ctx context.Context) error {
	u.mu.Lock()
	seen := u.seen
	u.seen = map[uint64]use{}
	u.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	err := u.v.store.Update(ctx, nil, func(t *store.Tx) error {
		for id, n := range seen {
			if err := u.add(t, id, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		u.giveBack(seen)
	}
	return err
}

func (u *usage) add(t *store.Tx, id uint64, n use) error {
	key, err := t.Key(id)
	if title.KindOf(err) == title.NotFound || errors.Is(err, store.ErrDamaged) {
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
