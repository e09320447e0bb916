package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// SweepResult is what a sweep did.
type SweepResult struct {
	Removed int      // blobs
	Bytes   int64    // of them
	Kept    int      // referenced, pinned, or not removable now
	Strays  []string // paths that are no blobs, left alone
}

// Sweep removes the blobs that no record references. referenced is asked for
// each blob while marking, and once more for each candidate right before its
// removal, when nobody can pin it; it must see every record committed before it
// is called. Uploads go on meanwhile: one waits only if it brings the very bytes
// that are being removed, and only for that removal. A blob that cannot be
// removed now (open on Windows) is left for the next sweep. An error of
// referenced or the context ends the sweep; the result counts what was done.
func (s *Store) Sweep(ctx context.Context, referenced func(Digest) (bool, error)) (SweepResult, error) {
	var result SweepResult
	if s.readOnly {
		return result, ErrReadOnly
	}
	var candidates []Entry
	err := s.Walk(ctx, func(e Entry) error {
		named, err := referenced(e.Digest)
		if err != nil {
			return err
		}
		if named {
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
		return result, fmt.Errorf("sweep: mark: %w", err)
	}
	var failed error
	for _, e := range candidates {
		if err := ctx.Err(); err != nil {
			return result, errors.Join(failed, fmt.Errorf("sweep: %w", err))
		}
		err := s.sweepOne(e, referenced, &result)
		if errors.Is(err, errAsk) {
			return result, errors.Join(failed, fmt.Errorf("sweep: %w", err))
		}
		failed = errors.Join(failed, err)
	}
	return result, failed
}

var errAsk = errors.New("ask for references")

func (s *Store) sweepOne(e Entry, referenced func(Digest) (bool, error), result *SweepResult) error {
	done, ok := s.pins.claim(e.Digest)
	if !ok {
		result.Kept++
		return nil
	}
	defer done()
	named, err := referenced(e.Digest)
	if err != nil {
		return fmt.Errorf("%w: %w", errAsk, err)
	}
	if named {
		result.Kept++
		return nil
	}
	switch err := s.files.Remove(e.Path); {
	case err == nil:
		result.Removed++
		result.Bytes += e.Size
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errFileInUse):
		s.log.Debug("blob is being read, left for the next sweep", "digest", e.Digest.String())
		result.Kept++
	default:
		result.Kept++
		return fmt.Errorf("sweep blob %s: %w", e.Digest, err)
	}
	return nil
}
