package httpx

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/fairqueue"
)

// Turns limits how many large responses are created at the same time, because each one takes memory and processor time
// before the server knows its size. An owner has at most half of the turns, and waiting owners are served in rotation.
type Turns struct {
	wait time.Duration

	mu      sync.Mutex
	turns   int
	taken   int
	byOwner map[string]int
	waiting fairqueue.Queue[*turn]
}

type turn struct {
	owner   string
	granted chan struct{} // closed when it is the owner's turn
}

// NewTurns returns n turns. A request waits for its turn for at most the duration wait.
func NewTurns(n int, wait time.Duration) *Turns {
	return &Turns{wait: wait, turns: n, byOwner: map[string]int{}}
}

// Take waits for a turn of owner. The caller must call done when the response has been created.
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
	timeout := time.NewTimer(t.wait)
	defer timeout.Stop()
	select {
	case <-w.granted:
		return done, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timeout.C:
		err = errBusy
	}
	done()
	return nil, err
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
