package index

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"deedkeep/app/search/index/segment"
)

// backlogLimit is the number of segments above which Apply waits for the running merges, so that they
// can keep up.
const backlogLimit = 200

// startMerging allows merges in the background, and starts those that are due.
func (in *Index) startMerging() {
	in.mergeCtx, in.stopMerging = context.WithCancel(context.Background())
	in.mergeInBackground()
}

// mergeInBackground merges adjacent segments until there are none to merge, to limit their number and to
// drop deleted documents. Segments that are not adjacent are never merged together because that would
// change the order of the documents. If merges are running already, they continue with the new segments.
func (in *Index) mergeInBackground() {
	if in.mergeCtx == nil {
		return
	}
	select {
	case in.merging <- struct{}{}:
		in.merges.Go(func() {
			defer func() { <-in.merging }()
			for more := true; more; {
				var err error
				if more, err = in.mergeOnce(in.mergeCtx); err != nil {
					in.mergeFailed(in.mergeCtx, err)
				}
			}
		})
	default:
	}
}

// waitForMerges waits for the end of the running merges.
func (in *Index) waitForMerges(ctx context.Context) error {
	select {
	case in.merging <- struct{}{}:
		<-in.merging
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mergeFailed stores ErrDamaged for the next Apply. After any other error, the merge is retried.
func (in *Index) mergeFailed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	in.options.Log.Warn("search index merge failed", "error", err)
	if errors.Is(err, ErrDamaged) {
		in.mu.Lock()
		in.mergeErr = err
		in.mu.Unlock()
	}
}

// mergeOnce performs one merge if necessary. done reports whether it did.
func (in *Index) mergeOnce(ctx context.Context) (done bool, err error) {
	s, err := in.acquire()
	if err != nil {
		return false, nil // the index is closed
	}
	defer s.release()
	from, to := pickMerge(s.views)
	if from == to {
		return false, nil
	}
	if !in.hasSpace(s.views[from:to]) {
		return false, nil // retried after the next Apply
	}
	if err := in.merge(ctx, s.views[from:to]); err != nil {
		return false, fmt.Errorf("merge segments: %w", err)
	}
	return true, nil
}

// hasSpace reports whether Options.AllowMerge allows a merge of the views. When disk space runs
// out, it logs that once.
func (in *Index) hasSpace(views []view) bool {
	if in.options.AllowMerge == nil {
		return true
	}
	bytes := int64(0)
	for _, v := range views {
		bytes += v.segment.Size
	}
	hadSpace := !in.lowSpace
	in.lowSpace = !in.options.AllowMerge(bytes)
	if hadSpace && in.lowSpace {
		in.options.Log.Warn("not enough free space to merge search index segments; the merge will be retried", "bytes", bytes)
	}
	return !in.lowSpace
}

// merge replaces adjacent segments by one, or by none if no live documents are left. Only one merge may
// run at a time.
func (in *Index) merge(ctx context.Context, views []view) (err error) {
	sources := make([]segment.Source, len(views))
	for i, v := range views {
		sources[i] = segment.Source{Segment: v.segment.Segment, Tombstones: v.tombstones}
	}
	m := segment.NewMerge(ctx, sources)
	var added *openSegment
	if m.LiveDocs() > 0 {
		if added, err = in.build(m.Write); err != nil {
			return err
		}
	}
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	in.mu.Lock()
	current := in.current
	in.mu.Unlock()
	at := slices.IndexFunc(current.views, func(v view) bool { return v.segment == views[0].segment })
	end := at + len(views)
	var middle []view
	if added != nil {
		var since []*segment.Tombstones
		for _, v := range current.views[at:end] {
			since = append(since, v.tombstones)
		}
		middle = []view{{added, m.TombstonesSince(since)}}
	}
	return in.install(current, slices.Replace(slices.Clone(current.views), at, end, middle...), added, current.checkpoint)
}

// Each segment has a level according to its size: below 64 KiB, below 512 KiB, and so on by factors
// of eight. If eight segments of a level have no larger segment between them, they are merged into
// one, usually of the next level. This way, a document is rewritten once per level, and there are
// no more than about seven segments per level.
const (
	mergeWidth    = 8
	maxMergeWidth = 32 // maximum number of segments in one merge
	level0Bits    = 16 // log2 of the size limit of level 0
	maxSegments   = 64 // above this number, the smallest adjacent segments are merged regardless of level
)

func level(size int64) int {
	return (max(0, bits.Len64(uint64(size))-level0Bits) + 2) / 3
}

// pickMerge returns the range of segments to merge. If there is nothing to merge, from equals to.
func pickMerge(views []view) (from, to int) {
	highest := 0
	for _, v := range views {
		highest = max(highest, level(v.segment.Size))
	}
	for l := range highest + 1 {
		if from, to = levelRun(views, l); from < to {
			return fitMaxDocs(views, from, to)
		}
	}
	if len(views) > maxSegments {
		from = smallestRun(views)
		return fitMaxDocs(views, from, from+mergeWidth)
	}
	for i, v := range views {
		if v.tombstones.Count() > int(v.segment.Docs)*2/5 {
			return i, i + 1
		}
	}
	return 0, 0
}

// levelRun returns a range of adjacent segments of level l or lower. It returns an empty range if
// there are not enough segments of level l.
func levelRun(views []view, l int) (from, to int) {
	count := 0
	for i, v := range views {
		lvl := level(v.segment.Size)
		if lvl > l {
			from, count = i+1, 0
			continue
		}
		if lvl == l {
			count++
		}
		if count < mergeWidth {
			continue
		}
		for to = i + 1; to < len(views) && to-from < maxMergeWidth && level(views[to].segment.Size) <= l; {
			to++
		}
		return max(from, to-maxMergeWidth), to
	}
	return 0, 0
}

// smallestRun returns the start of the mergeWidth adjacent segments with the smallest total size.
func smallestRun(views []view) int {
	best, at := int64(0), -1
	for i := 0; i+mergeWidth <= len(views); i++ {
		sum := int64(0)
		for _, v := range views[i : i+mergeWidth] {
			sum += v.segment.Size
		}
		if at < 0 || sum < best {
			best, at = sum, i
		}
	}
	return at
}

// fitMaxDocs drops the newest segments from the range until the others fit into one segment.
func fitMaxDocs(views []view, from, to int) (int, int) {
	docs := 0
	for i := from; i < to; i++ {
		if docs += int(views[i].segment.Docs); docs > segment.MaxDocs {
			to = i
		}
	}
	if to-from < 2 {
		return 0, 0
	}
	return from, to
}
