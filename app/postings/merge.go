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
	cancel context.CancelFunc
	done   chan struct{}
}

func (m *merger) start(x *Index) {
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel, m.done = cancel, make(chan struct{})
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
func (m *merger) poke() {
	select {
	case m.wake <- struct{}{}:
	default: // it is told already
	}
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
			if more, err = x.mergeOnce(ctx); err != nil {
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
	if err := x.merge(ctx, s.views[from:to]); err != nil {
		return false, fmt.Errorf("merge: %w", err)
	}
	return true, nil
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
