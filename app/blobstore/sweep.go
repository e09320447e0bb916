package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"deedkeep/app/blob"
)

// Walk calls visit for every blob, in the order of digests. It doesn't lock the store, so
// it may or may not visit a blob that is added or removed during the walk. It calls
// stray, which may be nil, with the place of anything else that the engine finds. It stops
// at the first error from visit, stray, the context, or the engine.
func (s *Store) Walk(ctx context.Context, visit func(Entry) error, stray func(place string) error) error {
	if err := s.engine.List(ctx, visit, stray); err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	return nil
}

// SweepResult is the result of a sweep.
type SweepResult struct {
	Removed int      // number of blobs
	Bytes   int64    // size of the removed blobs
	Kept    int      // number of blobs that are referenced, pinned, or in use
	Strays  []string // paths that aren't blobs; they are not removed
}

// Sweep removes the blobs that no record references. It calls referenced for each blob in
// the mark phase, and again for each candidate right before its removal, when the
// candidate can no longer be pinned. referenced must take into account every record
// committed before the call. Uploads continue during the sweep. An upload waits only if
// it has the same bytes as the blob that is being removed, and only for that removal. A
// blob that can't be removed now (on Windows, if it is open) stays until the next sweep.
// An error from referenced or the context ends the sweep. The result then counts the work
// done so far.
func (s *Store) Sweep(ctx context.Context, referenced func(Digest) (bool, error)) (SweepResult, error) {
	var result SweepResult
	if s.readOnly {
		return result, ErrReadOnly
	}
	var candidates []Entry
	err := s.Walk(ctx, func(e Entry) error {
		isReferenced, err := referenced(e.Digest)
		if err != nil {
			return err
		}
		if isReferenced {
			result.Kept++
		} else {
			candidates = append(candidates, e)
		}
		return nil
	}, func(path string) error {
		result.Strays = append(result.Strays, path)
		return nil
	})
	if err != nil {
		return result, fmt.Errorf("find unreferenced blobs: %w", err)
	}
	var failed error
	for _, e := range candidates {
		if err := ctx.Err(); err != nil {
			return result, errors.Join(failed, fmt.Errorf("remove unreferenced blobs: %w", err))
		}
		err := s.sweepOne(ctx, e, referenced, &result)
		if errors.Is(err, errReferenceCheck) {
			return result, errors.Join(failed, fmt.Errorf("remove unreferenced blobs: %w", err))
		}
		failed = errors.Join(failed, err)
	}
	return result, failed
}

var errReferenceCheck = errors.New("check references")

func (s *Store) sweepOne(ctx context.Context, e Entry, referenced func(Digest) (bool, error), result *SweepResult) error {
	done, ok := s.pins.beginRemoval(e.Digest)
	if !ok {
		result.Kept++
		return nil
	}
	defer done()
	isReferenced, err := referenced(e.Digest)
	if err != nil {
		return fmt.Errorf("%w: %w", errReferenceCheck, err)
	}
	if isReferenced {
		result.Kept++
		return nil
	}
	switch err := s.engine.Delete(ctx, e.Digest); {
	case err == nil:
		result.Removed++
		result.Bytes += e.Size
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, blob.ErrInUse):
		s.log.Debug("blob is in use; the next sweep removes it", "digest", e.Digest.String())
		result.Kept++
	default:
		result.Kept++
		return fmt.Errorf("remove unreferenced blob %s: %w", e.Digest, err)
	}
	return nil
}
