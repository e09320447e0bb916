package vault

import (
	"context"
	"fmt"
	"time"

	"deedkeep/app/blob"
	"deedkeep/app/store"
)

// sweeper removes the bytes that no record names: at the start, when a crash may
// have left some, then in regular turns, and soon after a request that failed
// with its bytes already kept.
type sweeper struct {
	v    *Vault
	wake chan struct{}
}

// sweepPause gathers requests that fail close together, so that they cost one
// walk over all documents and not one each.
const sweepPause = time.Second

func (s *sweeper) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *sweeper) run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := s.v.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.v.log.Error("sweep", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(sweepPause):
			}
		}
	}
}

// Sweep removes bytes that no record names. Uploads go on meanwhile: what a keeper
// has in hand is pinned until its record is committed. A vault that went read-only
// sweeps nothing: its last commit failed, and nobody knows which records the disk
// will show at the next start. It returns Closing then.
func (v *Vault) Sweep(ctx context.Context) error {
	result, err := v.blobs.Sweep(ctx, func(d blob.Digest) (used bool, err error) {
		// Each time: a commit may fail while the sweep is on its way, and its pins
		// are given back only after the store has said so.
		if v.store.Failed() != nil {
			return false, readOnly(v.store.Failed())
		}
		err = v.store.View(ctx, func(t *store.Tx) error {
			used = t.DigestInUse(d)
			return nil
		})
		return used, err
	})
	if result.Removed > 0 {
		v.log.Info("swept orphans", "removed", result.Removed, "bytes", result.Bytes)
	}
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}
