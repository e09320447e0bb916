package vault

import (
	"context"
	"time"

	"deedkeep/app/blob"
	"deedkeep/app/store"
)

// sweepEvery removes orphans at the start, which a crash may have left, and then
// in regular turns.
func (v *Vault) sweepEvery(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := v.Sweep(ctx); err != nil && ctx.Err() == nil {
			v.log.Error("sweep", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep removes bytes that no record names. Uploads go on meanwhile: what a keeper
// has in hand is pinned until its record is committed.
func (v *Vault) Sweep(ctx context.Context) error {
	result, err := v.blobs.Sweep(ctx, func(d blob.Digest) (used bool, err error) {
		err = v.store.View(ctx, func(t *store.Tx) error {
			used = t.DigestInUse(d)
			return nil
		})
		return used, err
	})
	if result.Removed > 0 {
		v.log.Info("swept orphans", "removed", result.Removed, "bytes", result.Bytes)
	}
	return err
}
