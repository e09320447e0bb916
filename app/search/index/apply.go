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
	if x.Stats().Segments > crowded {
		if err := x.merger.wait(ctx); err != nil {
			return fmt.Errorf("apply batch: %w", err)
		}
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	now, failed := x.current, x.failed
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
	x.merger.poke()
	return nil
}

func (x *Index) apply(ctx context.Context, now *snapshot, b *Batch, mark []byte) error {
	views, err := without(ctx, now.views, slices.Sorted(maps.Keys(b.touched)))
	if err != nil {
		return err
	}
	var fresh *openSegment
	if living := b.living(); living > 0 {
		if fresh, err = x.build(func(w *segment.Writer) error { return b.write(ctx, w) }); err != nil {
			return err
		}
		views = append(views, view{segment: fresh})
	}
	inDoubt, err := x.install(views, slices.Clone(mark))
	if fresh != nil {
		// From here on the state alone uses it; where there is none, its file goes, unless
		// the manifest may name it.
		fresh.drop.Store(err != nil && !inDoubt)
		err = errors.Join(err, fresh.release())
	}
	return err
}

// without returns the views with the documents of the keys gone.
func without(ctx context.Context, views []view, keys []uint64) ([]view, error) {
	views = slices.Clone(views)
	for i := len(views) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := &views[i]
		var more []uint32
		from := uint32(0)
		for _, key := range keys {
			doc, found, next, err := v.segment.DocumentOf(key, from)
			if err != nil {
				return nil, err
			}
			if from = next; found && !v.gone.Has(doc) {
				more = append(more, doc)
			}
		}
		if len(more) > 0 {
			v.gone = v.gone.With(v.segment.Docs, more)
		}
	}
	return views, nil
}

// build writes a segment and opens it; the caller is its only user.
func (x *Index) build(write func(*segment.Writer) error) (*openSegment, error) {
	number := x.next.Add(1) - 1
	path := filepath.Join(x.dir, segmentName(number))
	f, err := x.files.Create(path)
	if err != nil {
		return nil, err
	}
	w := segment.NewWriter(f)
	var stamp segment.Stamp
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
