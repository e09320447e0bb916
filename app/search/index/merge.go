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
	wake   chan struct{}
	tried  chan struct{} // a merge ended, well or not
	cancel context.CancelFunc
	done   chan struct{}
	short  bool // there was no room for the last one
}

// crowded is how many segments are too many: while merges fall behind, Apply goes no
// faster than they.
const crowded = 200

func (m *merger) start(x *Index) {
	ctx, cancel := context.WithCancel(context.Background())
	m.tried, m.cancel, m.done = make(chan struct{}, 1), cancel, make(chan struct{})
	go m.run(ctx, x)
	m.poke()
}

// stop ends the merge under way, which leaves nothing behind, and waits for it.
func (m *merger) stop() {
	if m.cancel != nil {
		m.cancel()
		<-m.done
	}
}

// poke tells that there may be something to merge.
func (m *merger) poke() { tell(m.wake) }

// tell leaves a word in a channel that has room for one.
func tell(c chan struct{}) {
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
	m.poke()
	select {
	case <-m.tried:
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
			tell(m.tried)
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
		x.failed = err
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
	from, to := pick(s.views)
	if from == to {
		return false, nil
	}
	if !x.roomFor(s.views[from:to]) {
		return false, nil // the next Apply asks again
	}
	if err := x.merge(ctx, s.views[from:to]); err != nil {
		return false, fmt.Errorf("merge: %w", err)
	}
	return true, nil
}

// roomFor asks for the room that a merge takes until its sources go, and says in the
// log when there is none, once.
func (x *Index) roomFor(views []view) bool {
	if x.options.Room == nil {
		return true
	}
	bytes := int64(0)
	for _, v := range views {
		bytes += v.segment.Size
	}
	had := !x.merger.short
	x.merger.short = !x.options.Room(bytes)
	if had && x.merger.short {
		x.options.Log.Warn("search index: no room for a merge; it is tried later", "bytes", bytes)
	}
	return !x.merger.short
}

// merge makes one segment of neighbors. There is one merge at a time.
func (x *Index) merge(ctx context.Context, views []view) (err error) {
	sources := make([]segment.Source, len(views))
	for i, v := range views {
		sources[i] = segment.Source{Segment: v.segment.Segment, Gone: v.gone}
	}
	g := segment.NewMerge(ctx, sources)
	var fresh *openSegment
	if g.Living() > 0 {
		if fresh, err = x.build(g.Write); err != nil {
			return err
		}
	}
	return x.replace(views, g, fresh)
}

// replace puts the merged segment, which is nil where nothing is left, in the place of
// those it was made of.
func (x *Index) replace(merged []view, g *segment.Merge, fresh *openSegment) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	now := x.current
	x.mu.Unlock()
	at := slices.IndexFunc(now.views, func(v view) bool { return v.segment == merged[0].segment })
	end := at + len(merged)
	var middle []view
	if fresh != nil {
		var since []*segment.Gone
		for _, v := range now.views[at:end] {
			since = append(since, v.gone)
		}
		middle = []view{{fresh, g.GoneSince(since)}}
	}
	inDoubt, err := x.install(slices.Replace(slices.Clone(now.views), at, end, middle...), now.mark)
	if fresh != nil {
		fresh.drop.Store(err != nil && !inDoubt)
		err = errors.Join(err, fresh.release())
	}
	return err
}

// Segments are of a level by their size: below 64 KiB, below 512 KiB, and so on by
// eights. Eight of a level that have nothing larger between them become one, of the
// next level as a rule: so a document is written again once for every level, and there
// are at most about seven segments of each.
const (
	mergeWidth   = 8
	mergeMost    = 32 // segments merged at once
	mergeLowest  = 16 // bits of the size of level 0
	mostSegments = 64 // with more than that, the smallest neighbors are merged whatever their level
)

func level(size int64) int {
	return (max(0, bits.Len64(uint64(size))-mergeLowest) + 2) / 3
}

// pick returns which segments to merge, from == to for none.
func pick(views []view) (from, to int) {
	highest := 0
	for _, v := range views {
		highest = max(highest, level(v.segment.Size))
	}
	for l := range highest + 1 {
		if from, to = run(views, l); from < to {
			return fit(views, from, to)
		}
	}
	if len(views) > mostSegments {
		from = smallest(views)
		return fit(views, from, from+mergeWidth)
	}
	for i, v := range views {
		if v.gone.Count() > int(v.segment.Docs)*2/5 {
			return i, i + 1
		}
	}
	return 0, 0
}

// run returns neighbors of the level or below, where enough are of the level.
func run(views []view, l int) (from, to int) {
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
		for to = i + 1; to < len(views) && to-from < mergeMost && level(views[to].segment.Size) <= l; {
			to++
		}
		return max(from, to-mergeMost), to
	}
	return 0, 0
}

// smallest returns where the neighbors begin that are smallest together.
func smallest(views []view) int {
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

// fit leaves out the latest until the rest is not too many documents for a segment.
func fit(views []view, from, to int) (int, int) {
	docs := 0
	for i := from; i < to; i++ {
		if docs += int(views[i].segment.Docs); docs > segment.MostDocs {
			to = i
		}
	}
	if to-from < 2 {
		return 0, 0
	}
	return from, to
}
