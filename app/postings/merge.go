package postings

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// merger merges neighbouring segments in the background, so that there are few, and
// what is gone goes. Only neighbours: the order in which documents came is kept.
type merger struct {
	wake   chan struct{}
	tried  chan struct{} // a merge ended, well or not
	cancel context.CancelFunc
	done   chan struct{}
}

// crowded is how many segments are too many: while merges fall behind, Apply goes hardly
// faster than they. It waits for the end of one, however large that is; one that ended
// before may let it through, so the bound is soft.
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
	if from == to || !x.roomFor(s.views[from:to]) {
		return false, nil
	}
	if err := x.merge(ctx, s.views[from:to]); err != nil {
		return false, fmt.Errorf("merge: %w", err)
	}
	return true, nil
}

// roomFor asks for what a merge may need: it makes no more of its sources than they are.
func (x *Index) roomFor(views []view) bool {
	sum := int64(0)
	for _, v := range views {
		sum += v.segment.size
	}
	return x.options.Room == nil || x.options.Room(sum)
}

// merge makes one segment of neighbours. There is one merge at a time.
func (x *Index) merge(ctx context.Context, views []view) (err error) {
	g := newMerge(ctx, views)
	var fresh *segment
	if g.living > 0 {
		if fresh, err = x.build(g.write); err != nil {
			return err
		}
	}
	return x.replace(g, fresh)
}

// replace puts the merged segment, which is nil where nothing is left, in the place of
// those it was made of.
func (x *Index) replace(g *merge, fresh *segment) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	now := x.current
	x.mu.Unlock()
	at := slices.IndexFunc(now.views, func(v view) bool { return v.segment == g.earliest() })
	views := slices.Clone(now.views)
	var middle []view
	if fresh != nil {
		middle = []view{{fresh, g.goneSince(now.views[at:at+len(g.sources)], fresh.docs)}}
	}
	inDoubt, err := x.install(slices.Replace(views, at, at+len(g.sources), middle...), now.mark)
	if fresh != nil {
		fresh.drop.Store(err != nil && !inDoubt)
		err = errors.Join(err, fresh.release())
	}
	return err
}
