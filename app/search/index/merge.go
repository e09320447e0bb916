package index

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"deedkeep/app/search/index/segment"
)

// merger merges neighboring segments in the background, so that there are few, and
// what is gone goes. Only neighbors: the order in which documents came is kept.
type merger struct {
	wake     chan struct{}
	finished chan struct{} // a merge ended, well or not
	cancel   context.CancelFunc
	done     chan struct{}
	lowSpace bool // there was no room for the last one
}

// backlogLimit is how many segments are too many: while merges fall behind, Apply goes no
// faster than they.
const backlogLimit = 200

func (m *merger) start(x *Index) {
	ctx, cancel := context.WithCancel(context.Background())
	m.finished, m.cancel, m.done = make(chan struct{}, 1), cancel, make(chan struct{})
	go m.run(ctx, x)
	m.notify()
}

// stop ends the merge under way, which leaves nothing behind, and waits for it.
func (m *merger) stop() {
	if m.cancel != nil {
		m.cancel()
		<-m.done
	}
}

// notify tells that there may be something to merge.
func (m *merger) notify() { signal(m.wake) }

// signal leaves a word in a channel that has room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is told already
	}
}

// wait waits for a merge to end, where one can be under way.
func (m *merger) wait(ctx context.Context) error {
	if m.cancel == nil {
		return nil
	}
	m.notify()
	select {
	case <-m.finished:
	case <-m.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (m *merger) run(ctx context.Context, x *Index) {
	defer close(m.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		for more := true; more; {
			var err error
			more, err = x.mergeOnce(ctx)
			signal(m.finished)
			if err != nil {
				x.mergeFailed(ctx, err)
				break
			}
		}
	}
}

// mergeFailed keeps damage for the next Apply to say. All else is tried again.
func (x *Index) mergeFailed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	x.options.Log.Warn("search index: merge", "error", err)
	if errors.Is(err, ErrDamaged) {
		x.mu.Lock()
		x.mergeErr = err
		x.mu.Unlock()
	}
}

// mergeOnce does one merge, where there is one to do.
func (x *Index) mergeOnce(ctx context.Context) (done bool, err error) {
	s, err := x.acquire()
	if errors.Is(err, ErrClosed) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer s.release()
	from, to := pickMerge(s.views)
	if from == to {
		return false, nil
	}
	if !x.hasSpace(s.views[from:to]) {
		return false, nil // the next Apply asks again
	}
	if err := x.merge(ctx, s.views[from:to]); err != nil {
		return false, fmt.Errorf("merge: %w", err)
	}
	return true, nil
}

// hasSpace asks for the room that a merge takes until its sources go, and says in the
// log when there is none, once.
func (x *Index) hasSpace(views []view) bool {
	if x.options.AllowMerge == nil {
		return true
	}
	bytes := int64(0)
	for _, v := range views {
		bytes += v.segment.Size
	}
	had := !x.merger.lowSpace
	x.merger.lowSpace = !x.options.AllowMerge(bytes)
	if had && x.merger.lowSpace {
		x.options.Log.Warn("search index: no room for a merge; it is tried later", "bytes", bytes)
	}
	return !x.merger.lowSpace
}

// merge makes one segment of neighbors. There is one merge at a time.
func (x *Index) merge(ctx context.Context, views []view) (err error) {
	sources := make([]segment.Source, len(views))
	for i, v := range views {
		sources[i] = segment.Source{Segment: v.segment.Segment, Tombstones: v.tombstones}
	}
	g := segment.NewMerge(ctx, sources)
	var fresh *openSegment
	if g.LiveDocs() > 0 {
		if fresh, err = x.build(g.Write); err != nil {
			return err
		}
	}
	return x.replace(views, g, fresh)
}

// replace puts the merged segment, which is nil where nothing is left, in the place of
// those it was made of.
func (x *Index) replace(merged []view, g *segment.Merge, fresh *openSegment) error {
	x.writeMu.Lock()
	defer x.writeMu.Unlock()
	x.mu.Lock()
	now := x.current
	x.mu.Unlock()
	at := slices.IndexFunc(now.views, func(v view) bool { return v.segment == merged[0].segment })
	end := at + len(merged)
	var middle []view
	if fresh != nil {
		var since []*segment.Tombstones
		for _, v := range now.views[at:end] {
			since = append(since, v.tombstones)
		}
		middle = []view{{fresh, g.TombstonesSince(since)}}
	}
	inDoubt, err := x.install(slices.Replace(slices.Clone(now.views), at, end, middle...), now.checkpoint)
	if fresh != nil {
		fresh.removeFile.Store(err != nil && !inDoubt)
		err = errors.Join(err, fresh.release())
	}
	return err
}

// Segments are of a level by their size: below 64 KiB, below 512 KiB, and so on by
// eights. Eight of a level that have nothing larger between them become one, of the
// next level as a rule: so a document is written again once for every level, and there
// are at most about seven segments of each.
const (
	mergeWidth    = 8
	maxMergeWidth = 32 // segments merged at once
	level0Bits    = 16 // bits of the size of level 0
	maxSegments   = 64 // with more than that, the smallest neighbors are merged whatever their level
)

func level(size int64) int {
	return (max(0, bits.Len64(uint64(size))-level0Bits) + 2) / 3
}

// pickMerge returns which segments to merge, from == to for none.
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

// levelRun returns neighbors of the level or below, where enough are of the level.
func levelRun(views []view, l int) (from, to int) {
	count := 0
	for i, v := range views {
		of := level(v.segment.Size)
		if of > l {
			from, count = i+1, 0
			continue
		}
		if of == l {
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

// smallestRun returns where the neighbors begin that are smallest together.
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

// fitMaxDocs leaves out the latest until the rest is not too many documents for a segment.
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
