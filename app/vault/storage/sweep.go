package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// Sweeper deletes blobs that no record refers to. It runs when the server starts (because
// there may have been a crash), at regular intervals, and soon after a request fails with
// its blobs already committed.
type Sweeper struct {
	*Storage
	holds atomic.Int64 // number of backups in progress; they may need any blob
}

// Hold prevents the sweeper from deleting blobs until release is called. Backups call it
// because they may need any blob.
func (s *Sweeper) Hold() (release func()) {
	s.holds.Add(1)
	return func() {
		s.holds.Add(-1)
		s.Orphans.Notify()
	}
}

// sweepDelay is the time from a request for a sweep to its start. It combines several
// requests into one sweep, because each sweep lists the complete blob directory.
const sweepDelay = time.Second

// IsHeld reports whether a backup prevents the deletion of blobs.
func (s *Sweeper) IsHeld() bool { return s.holds.Load() > 0 }

// Run sweeps at intervals and on request until ctx is done.
func (s *Sweeper) Run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("deletion of orphaned files failed", "error", err)
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

// Sweep deletes blobs that no record refers to, and their previews. Uploads can continue,
// because their blobs are pinned until the records are committed. If the vault is
// read-only, Sweep returns Unavailable, because after a failed commit it is unknown which
// records are on the disk.
func (s *Sweeper) Sweep(ctx context.Context) error {
	_, err := s.SweepBlobs(ctx)
	return err
}

// SweepBlobs does the same as Sweep and returns the number and size of the deleted blobs.
func (s *Sweeper) SweepBlobs(ctx context.Context) (result blobstore.SweepResult, err error) {
	orphans, err := s.orphans(ctx)
	if err == nil {
		err = s.removeOCROrphans(ctx)
	}
	if err != nil {
		return result, fmt.Errorf("delete orphaned files: %w", err)
	}
	if len(orphans) == 0 {
		return result, nil
	}
	result, err = s.Blobs.Sweep(ctx, func(d blobstore.Digest) (bool, error) {
		if !orphans[d] {
			return true, nil
		}
		used, err := s.digestInUse(ctx, d)
		if err == nil && !used {
			// Remove the preview and the OCR results before the blob. If the server crashes in
			// between, the blob is still an orphan, and the next sweep removes all of them.
			err = errors.Join(s.Previews.Remove(d.String()), s.Texts.Remove(d.String()))
			s.DamagedBlobs.remove(d)
		}
		return used, err
	})
	if result.Removed > 0 {
		s.Log.Info("orphaned files deleted", "removed", result.Removed, "bytes", result.Bytes)
	}
	if err != nil {
		return result, fmt.Errorf("delete orphaned files: %w", err)
	}
	return result, nil
}

// removeOCROrphans deletes the OCR results of documents that are gone. A crash leaves them if a page
// was read while its document was purged.
func (s *Sweeper) removeOCROrphans(ctx context.Context) error {
	return s.OCRFiles.Walk(ctx, func(e blobstore.Entry) error {
		if used, err := s.digestInUse(ctx, e.Digest); err != nil || used {
			return err
		}
		if _, err := s.Blobs.Size(ctx, e.Digest); !errors.Is(err, fs.ErrNotExist) {
			return err // the results of a blob without a record are deleted with it
		}
		return s.OCRFiles.Remove(e.Digest.String())
	}, nil)
}

func (s *Sweeper) digestInUse(ctx context.Context, d blobstore.Digest) (bool, error) {
	// Check this for each blob, because a commit may fail during the sweep. The pins of a
	// failed commit are released only after the store has reported the failure.
	if s.Store.Failure() != nil {
		return false, errs.DiskFailed(s.Store.Failure())
	}
	if s.IsHeld() {
		return true, nil
	}
	return store.Read(ctx, s.Store, func(t *store.Tx) (bool, error) { return t.DigestInUse(d), nil })
}

// orphans returns the blobs that neither the digest index nor any record refers to.
// Checking the index alone is not enough, because a flipped bit in the index must not
// delete a document.
func (s *Sweeper) orphans(ctx context.Context) (map[blobstore.Digest]bool, error) {
	found := map[blobstore.Digest]bool{}
	err := s.Blobs.Walk(ctx, func(e blobstore.Entry) error {
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

// removeReferenced removes the blobs that a record refers to from found. It fails if a
// record is unreadable or missing, because that record might refer to any of the blobs.
func (s *Sweeper) removeReferenced(ctx context.Context, found map[blobstore.Digest]bool) error {
	walked, expected := uint64(0), uint64(math.MaxUint64)
	for from := uint64(1); ; {
		var files []model.File
		err := s.Store.View(ctx, func(t *store.Tx) (err error) {
			expected = min(expected, t.Count(store.CountFileRecords))
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
	if walked < expected {
		return fmt.Errorf("found %d file records, expected %d; run \"deedkeep verify\"", walked, expected)
	}
	return nil
}
