package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"deedkeep/app/search/index/segment"
)

// Apply puts what the batch holds into the index, and the mark with it: both are there
// when it returns, whatever is cut from then on, and neither is where it fails, but for
// a power cut or a disk that fails in its last step, after which the next Open tells by
// the mark. The batch stays as it is: it can be applied again.
func (x *Index) Apply(ctx context.Context, b *Batch, mark []byte) error {
	if b.err != nil {
		return fmt.Errorf("apply batch: %w", b.err)
	}
	if x.Stats().Segments > backlogLimit {
		if err := x.merger.wait(ctx); err != nil {
			return fmt.Errorf("apply batch: %w", err)
		}
	}
	x.writeMu.Lock()
	defer x.writeMu.Unlock()
	x.mu.Lock()
	now, failed := x.current, x.mergeErr
	x.mu.Unlock()
	if now == nil {
		return ErrClosed
	}
	err := failed
	if err == nil {
		err = x.apply(ctx, now, b, mark)
	}
	if err != nil {
		return fmt.Errorf("apply batch: %w", err)
	}
	x.merger.notify()
	return nil
}

func (x *Index) apply(ctx context.Context, now *snapshot, b *Batch, mark []byte) error {
	views, err := withTombstones(ctx, now.views, slices.Sorted(maps.Keys(b.touched)))
	if err != nil {
		return err
	}
	var fresh *openSegment
	if living := b.liveDocs(); living > 0 {
		if fresh, err = x.build(func(w *segment.Writer) error { return b.write(ctx, w) }); err != nil {
			return err
		}
		views = append(views, view{segment: fresh})
	}
	inDoubt, err := x.install(views, slices.Clone(mark))
	if fresh != nil {
		// From here on the state alone uses it; where there is none, its file goes, unless
		// the manifest may name it.
		fresh.removeFile.Store(err != nil && !inDoubt)
		err = errors.Join(err, fresh.release())
	}
	return err
}

// withTombstones returns the views with the documents of the keys gone.
func withTombstones(ctx context.Context, views []view, keys []uint64) ([]view, error) {
	views = slices.Clone(views)
	for i := len(views) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := &views[i]
		var more []uint32
		from := uint32(0)
		for _, key := range keys {
			doc, found, next, err := v.segment.FindKey(key, from)
			if err != nil {
				return nil, err
			}
			if from = next; found && !v.tombstones.Has(doc) {
				more = append(more, doc)
			}
		}
		if len(more) > 0 {
			v.tombstones = v.tombstones.With(v.segment.Docs, more)
		}
	}
	return views, nil
}

// build writes a segment and opens it; the caller is its only user.
func (x *Index) build(write func(*segment.Writer) error) (*openSegment, error) {
	number := x.nextSegment.Add(1) - 1
	path := filepath.Join(x.dir, segmentName(number))
	f, err := x.files.Create(path)
	if err != nil {
		return nil, err
	}
	w := segment.NewWriter(f)
	var stamp segment.Meta
	if err = write(w); err == nil {
		stamp, err = w.Finish(number)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		// Its name is to be there before the manifest names it. On Windows, where no directory
		// is synced, that rests on the log of NTFS, which keeps the order of changes to names;
		// were it not so, Open would say that a segment is missing.
		err = x.files.SyncDir(x.dir)
	}
	var s *openSegment
	if err == nil {
		s, err = x.openSegment(stamp)
	}
	if err != nil {
		return nil, errors.Join(err, x.files.Remove(path))
	}
	return s, nil
}
