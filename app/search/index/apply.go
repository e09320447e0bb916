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

// Apply adds the documents of the batch to the index and stores the checkpoint with them,
// atomically and durably. If it returns an error, nothing has changed, with one exception: if the
// power or the disk fails in the last step, the index may contain the batch after the next Open.
// Its checkpoint shows whether it does. The batch is not modified and may be applied again.
func (in *Index) Apply(ctx context.Context, b *Batch, checkpoint []byte) error {
	if err := in.apply(ctx, b, checkpoint); err != nil {
		return fmt.Errorf("apply batch: %w", err)
	}
	in.mergeInBackground()
	return nil
}

func (in *Index) apply(ctx context.Context, b *Batch, checkpoint []byte) error {
	if b.err != nil {
		return b.err
	}
	if in.Stats().Segments > backlogLimit {
		if err := in.waitForMerges(ctx); err != nil {
			return err
		}
	}
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	in.mu.Lock()
	current, failed := in.current, in.mergeErr
	in.mu.Unlock()
	switch {
	case current == nil:
		return ErrClosed
	case failed != nil:
		return failed
	}
	views, err := withTombstones(ctx, current.views, slices.Sorted(maps.Keys(b.touched)))
	if err != nil {
		return err
	}
	var added *openSegment
	if b.live > 0 {
		if added, err = in.build(func(w *segment.Writer) error { return b.write(ctx, w) }); err != nil {
			return err
		}
		views = append(views, view{segment: added})
	}
	return in.install(current, views, added, slices.Clone(checkpoint))
}

// withTombstones returns a copy of views in which the documents with the given keys are marked as
// deleted.
func withTombstones(ctx context.Context, views []view, keys []uint64) ([]view, error) {
	views = slices.Clone(views)
	for i := len(views) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := &views[i]
		var deleted []uint32
		for _, key := range keys {
			doc, found, err := v.segment.FindKey(key)
			if err != nil {
				return nil, err
			}
			if found && !v.tombstones.Has(doc) {
				deleted = append(deleted, doc)
			}
		}
		if len(deleted) > 0 {
			v.tombstones = v.tombstones.With(v.segment.Docs, deleted)
		}
	}
	return views, nil
}

// build writes a segment and opens it. The caller holds the only reference to the segment.
func (in *Index) build(write func(*segment.Writer) error) (*openSegment, error) {
	number := in.nextSegment.Add(1) - 1
	path := filepath.Join(in.dir, segmentName(number))
	f, err := in.files.Create(path)
	if err != nil {
		return nil, err
	}
	w := segment.NewWriter(f)
	var meta segment.Meta
	if err = write(w); err == nil {
		meta, err = w.Finish(number)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		// The directory entry must be durable before the manifest refers to it. Windows can't sync
		// a directory, but the NTFS log preserves the order of metadata changes. If it did not,
		// Open would report a missing segment.
		err = in.files.SyncDir(in.dir)
	}
	var s *openSegment
	if err == nil {
		s, err = in.openSegment(meta)
	}
	if err != nil {
		return nil, errors.Join(err, in.files.Remove(path))
	}
	return s, nil
}
