package fairqueue

import (
	"context"
	"errors"
	"sync"
)

// Turns limits how much is done at the same time. An owner has at most half of the turns, and waiting owners are served
// in rotation.
type Turns struct {
	busy error // what Take returns if no turn comes in time

	mu      sync.Mutex
	turns   int
	taken   int
	byOwner map[string]int
	waiting Queue[*turn]
}

type turn struct {
	owner   string
	granted chan struct{} // closed when it is the owner's turn
}

// NewTurns returns n turns. busy is what Take returns if the deadline of its context passes first.
func NewTurns(n int, busy error) *Turns {
	return &Turns{busy: busy, turns: n, byOwner: map[string]int{}}
}

// Take waits for a turn of owner. It takes a free one even if the deadline of ctx has passed. The caller must call done
// at the end of the turn.
func (t *Turns) Take(ctx context.Context, owner string) (done func(), err error) {
	w := &turn{owner, make(chan struct{})}
	t.mu.Lock()
	t.waiting.Add(owner, w, false)
	t.serve()
	t.mu.Unlock()
	done = sync.OnceFunc(func() { t.end(w) })
	select {
	case <-w.granted:
		return done, nil
	default:
	}
	select {
	case <-w.granted:
		return done, nil
	case <-ctx.Done():
	}
	done()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, t.busy
	}
	return nil, ctx.Err() // canceled
}

// end ends a turn, or stops waiting for it.
func (t *Turns) end(w *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting.Remove(w.owner, w) {
		return
	}
	t.taken--
	if t.byOwner[w.owner]--; t.byOwner[w.owner] == 0 {
		delete(t.byOwner, w.owner)
	}
	t.serve()
}

func (t *Turns) serve() {
	for t.taken < t.turns {
		next, ok := t.waiting.Next(func(owner string) (int64, bool) {
			taken := t.byOwner[owner]
			return int64(taken), taken < max(1, t.turns/2)
		})
		if !ok {
			return
		}
		t.taken++
		t.byOwner[next.owner]++
		close(next.granted)
	}
}
