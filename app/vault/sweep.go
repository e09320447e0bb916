package vault

import (
	"context"
	"fmt"
	"math"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
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

// Sweep removes bytes that no record names, and what was derived of them. Uploads go on meanwhile: what a keeper
// has in hand is pinned until its record is committed. A vault that went read-only
// sweeps nothing: its last commit failed, and nobody knows which records the disk
// will show at the next start. It returns Closing then.
func (v *Vault) Sweep(ctx context.Context) error {
	_, err := v.sweep(ctx)
	return err
}

func (v *Vault) sweep(ctx context.Context) (result blobstore.SweepResult, err error) {
	orphans, err := v.orphans(ctx)
	if err != nil {
		return result, fmt.Errorf("sweep: %w", err)
	}
	if len(orphans) == 0 {
		return result, nil
	}
	result, err = v.blobs.Sweep(ctx, func(d blobstore.Digest) (bool, error) {
		if !orphans[d] {
			return true, nil
		}
		used, err := v.digestInUse(ctx, d)
		if err == nil && !used {
			// Before the bytes: after a crash in between they are still an orphan, and
			// nobody's text stays behind for good.
			err = v.derived.Remove(d.String())
			v.damages.drop(d)
		}
		return used, err
	})
	if result.Removed > 0 {
		v.log.Info("swept orphans", "removed", result.Removed, "bytes", result.Bytes)
	}
	if err != nil {
		return result, fmt.Errorf("sweep: %w", err)
	}
	return result, nil
}

func (v *Vault) digestInUse(ctx context.Context, d blobstore.Digest) (used bool, err error) {
	// Each time: a commit may fail while the sweep is on its way, and its pins
	// are given back only after the store has said so.
	if v.store.Failure() != nil {
		return false, readOnly(v.store.Failure())
	}
	if v.Backups.holds() {
		return true, nil
	}
	err = v.store.View(ctx, func(t *store.Tx) error {
		used = t.DigestInUse(d)
		return nil
	})
	return used, err
}

// orphans are the blobs that neither the index nor any record names. The index
// alone is no proof: a flipped bit in it must not cost a document.
func (v *Vault) orphans(ctx context.Context) (map[blobstore.Digest]bool, error) {
	found := map[blobstore.Digest]bool{}
	err := v.blobs.Walk(ctx, func(e blobstore.Entry) error {
		used, err := v.digestInUse(ctx, e.Digest)
		if !used {
			found[e.Digest] = true
		}
		return err
	}, nil)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found, v.spareNamed(ctx, found)
}

const filesAtOnce = 1000

// spareNamed takes what a record names out of the set. A record that cannot be
// read, or is missing, might name any of them.
func (v *Vault) spareNamed(ctx context.Context, found map[blobstore.Digest]bool) error {
	walked, least := uint64(0), uint64(math.MaxUint64)
	for from := uint64(1); ; {
		var files []model.File
		err := v.store.View(ctx, func(t *store.Tx) (err error) {
			least = min(least, t.Count(store.CountFileRecords))
			files, err = t.ScanFiles(from, filesAtOnce)
			return err
		})
		if err != nil {
			return err
		}
		for _, f := range files {
			digest, err := blobstore.ParseDigest(f.Digest)
			if err != nil {
				return fmt.Errorf("file %d: %w", f.ID, err)
			}
			delete(found, digest)
			from = f.ID + 1
		}
		if walked += uint64(len(files)); len(files) < filesAtOnce {
			break
		}
	}
	if walked < least {
		return fmt.Errorf("%d records of files are there, %d should be: verify names what is wrong", walked, least)
	}
	return nil
}
