package postings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// Apply puts what the batch holds into the index, and the mark with it: both are there
// when it returns, whatever is cut from then on, and neither is where it fails, but for
// a power cut or a disk that fails in its last step, after which the next Open tells by
// the mark. The batch stays as it is: it can be applied again.
func (x *Index) Apply(ctx context.Context, b *Batch, mark []byte) error {
	if b.err != nil {
		return fmt.Errorf("apply batch: %w", b.err)
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
	var fresh *segment
	if living := b.living(); living > 0 {
		if fresh, err = x.build(func(w *segmentWriter) error { return b.write(ctx, w) }); err != nil {
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
			doc, found, next, err := v.segment.lookUp(key, from)
			if err != nil {
				return nil, err
			}
			if from = next; found && !v.gone.has(doc) {
				more = append(more, doc)
			}
		}
		if len(more) > 0 {
			v.gone = v.gone.with(v.segment.docs, more)
		}
	}
	return views, nil
}

// build writes a segment and opens it; the caller is its only user.
func (x *Index) build(write func(*segmentWriter) error) (*segment, error) {
	number := x.next.Add(1) - 1
	path := filepath.Join(x.dir, segmentName(number))
	f, err := x.files.Create(path)
	if err != nil {
		return nil, err
	}
	w := newSegmentWriter(f)
	l := listed{number: number}
	if err = write(w); err == nil {
		l.size, l.sum, err = w.finish(number)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		// Its name is to be there before the manifest names it.
		err = x.files.SyncDir(x.dir)
	}
	var s *segment
	if err == nil {
		s, err = openSegment(x.dir, l, x.cache, x.files)
	}
	if err != nil {
		return nil, errors.Join(err, x.files.Remove(path))
	}
	return s, nil
}
