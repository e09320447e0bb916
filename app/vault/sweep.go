package vault

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// sweeper removes the bytes that no record names: at the start, when a crash may
// have left some, then in regular turns, and soon after a request that failed
// with its bytes already kept.
type Sweeper struct {
	*txn.DB
	vault *Vault
	holds atomic.Int64 // snapshots in progress, whose documents may not be removed
}

// Hold keeps all blobs until release is called, because a snapshot in progress may name
// them.
func (s *Sweeper) Hold() (release func()) {
	s.holds.Add(1)
	return func() {
		s.holds.Add(-1)
		s.Orphans.Notify()
	}
}

// sweepDelay gathers requests that fail close together, so that they cost one
// walk over all documents and not one each.
const sweepDelay = time.Second

func (s *Sweeper) Run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("sweep", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.Orphans:
			select {
			case <-ctx.Done():
				return
			case <-time.After(sweepDelay):
			}
		}
	}
}

// Sweep removes bytes that no record names, and what was derived of them. Uploads go on meanwhile: what a keeper
// has in hand is pinned until its record is committed. A vault that went read-only
// sweeps nothing: its last commit failed, and nobody knows which records the disk
// will show at the next start. It returns Closing then.
func (s *Sweeper) Sweep(ctx context.Context) error {
	_, err := s.SweepBlobs(ctx)
	return err
}

func (s *Sweeper) SweepBlobs(ctx context.Context) (result blobstore.SweepResult, err error) {
	orphans, err := s.orphans(ctx)
	if err != nil {
		return result, fmt.Errorf("sweep: %w", err)
	}
	if len(orphans) == 0 {
		return result, nil
	}
	result, err = s.vault.Blobs.Sweep(ctx, func(d blobstore.Digest) (bool, error) {
		if !orphans[d] {
			return true, nil
		}
		used, err := s.digestInUse(ctx, d)
		if err == nil && !used {
			// Before the bytes: after a crash in between they are still an orphan, and
			// nobody's text stays behind for good.
			err = s.vault.Previews.Remove(d.String())
			s.vault.DamagedBlobs.remove(d)
		}
		return used, err
	})
	if result.Removed > 0 {
		s.Log.Info("swept orphans", "removed", result.Removed, "bytes", result.Bytes)
	}
	if err != nil {
		return result, fmt.Errorf("sweep: %w", err)
	}
	return result, nil
}

func (s *Sweeper) digestInUse(ctx context.Context, d blobstore.Digest) (used bool, err error) {
	// Each time: a commit may fail while the sweep is on its way, and its pins
	// are given back only after the store has said so.
	if s.Store.Failure() != nil {
		return false, txn.ReadOnlyError(s.Store.Failure())
	}
	if s.holds.Load() > 0 {
		return true, nil
	}
	err = s.Store.View(ctx, func(t *store.Tx) error {
		used = t.DigestInUse(d)
		return nil
	})
	return used, err
}

// orphans are the blobs that neither the index nor any record names. The index
// alone is no proof: a flipped bit in it must not cost a document.
func (s *Sweeper) orphans(ctx context.Context) (map[blobstore.Digest]bool, error) {
	found := map[blobstore.Digest]bool{}
	err := s.vault.Blobs.Walk(ctx, func(e blobstore.Entry) error {
		used, err := s.digestInUse(ctx, e.Digest)
		if !used {
			found[e.Digest] = true
		}
		return err
	}, nil)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found, s.removeReferenced(ctx, found)
}

const fileScanSize = 1000

// removeReferenced takes what a record names out of the set. A record that cannot be
// read, or is missing, might name any of them.
func (s *Sweeper) removeReferenced(ctx context.Context, found map[blobstore.Digest]bool) error {
	walked, least := uint64(0), uint64(math.MaxUint64)
	for from := uint64(1); ; {
		var files []model.File
		err := s.Store.View(ctx, func(t *store.Tx) (err error) {
			least = min(least, t.Count(store.CountFileRecords))
			files, err = t.ScanFiles(from, fileScanSize)
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
		if walked += uint64(len(files)); len(files) < fileScanSize {
			break
		}
	}
	if walked < least {
		return fmt.Errorf("%d records of files are there, %d should be: verify names what is wrong", walked, least)
	}
	return nil
}
