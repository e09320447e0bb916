package api

import (
	"context"
	"slices"
	"sync"
)

// pool is memory that bodies share while they grow. Each owner has at most a part of it.
//
// A body keeps what it has while it waits for more, so bodies could wait for each other
// forever. The pool rules that out: it keeps enough free for the oldest body to reach its
// full size, and for each owner's oldest within that owner's part:
//
//	free + held by the oldest ≥ the largest claim of those that still grow
//
// The oldest body of all is the oldest of its owner too, so it never waits. When it ends,
// what it held goes back, and the rule is true for the next one.
type pool struct {
	each int64 // the most of one owner

	mu    sync.Mutex
	all   line
	of    map[string]*line // by owner; never empty
	queue []*hold          // those that wait and hold nothing, first come first served
}

// hold is what one body has of a pool.
type hold struct {
	owner       string
	held, claim int64         // bytes now, and at its full size
	wants       int64         // more, that it waits for
	granted     chan struct{} // closed when it has them
}

// line is the bodies that share a number of bytes (most), the oldest first.
type line struct {
	most, held int64
	holds      []*hold
}

// newPool returns a pool of that many bytes. An owner has at most each of them.
func newPool(bytes, each int64) *pool {
	return &pool{each: each, all: line{most: bytes}, of: map[string]*line{}}
}

// claim says how large a body gets in the end, before it takes anything. No body counts
// for more than its owner's part.
func (p *pool) claim(h *hold, owner string, bytes int64) {
	h.owner, h.claim = owner, min(bytes, p.each)
}

// grow gives a body that many bytes in all. waiting ends the wait for them; it is called
// only when there is one.
func (p *pool) grow(h *hold, bytes int64, waiting func() (context.Context, context.CancelFunc)) error {
	p.mu.Lock()
	h.wants = max(0, min(bytes, h.claim)-h.held)
	if h.wants > 0 {
		h.granted = make(chan struct{})
		if h.held == 0 {
			p.queue = append(p.queue, h)
		}
		p.serve()
	}
	done := h.wants == 0
	p.mu.Unlock()
	if done {
		return nil
	}
	ctx, cancel := waiting()
	defer cancel()
	select {
	case <-h.granted:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.wants == 0 { // granted in the same moment
		return nil
	}
	h.wants = 0
	p.queue = slices.DeleteFunc(p.queue, func(other *hold) bool { return other == h })
	p.serve()
	return ctx.Err()
}

// settle is for a body that has reached its end: it claims no more than it holds.
func (p *pool) settle(h *hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.claim != h.held {
		h.claim = h.held
		p.serve()
	}
}

// release takes back everything that a body holds.
func (p *pool) release(h *hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.held == 0 {
		return
	}
	own := p.of[h.owner]
	p.all.remove(h)
	if own.remove(h); len(own.holds) == 0 {
		delete(p.of, h.owner)
	}
	h.held, h.claim = 0, 0
	p.serve()
}

// serve grants what can be granted: first to bodies that hold something, the oldest
// first, then to those that wait in the queue. No one overtakes an older body that
// waits, except where only that one's owner has too much.
func (p *pool) serve() {
	var blocked map[string]bool
	block := func(owner string) {
		if blocked == nil {
			blocked = map[string]bool{}
		}
		blocked[owner] = true
	}
	for _, h := range p.all.holds {
		switch own := p.of[h.owner]; {
		case h.wants == 0 || blocked[h.owner]:
		case !own.fits(h):
			block(h.owner)
		case !p.all.fits(h):
			return
		default:
			p.all.held += h.wants
			own.held += h.wants
			h.grant()
		}
	}
	for len(p.queue) > 0 {
		at := slices.IndexFunc(p.queue, func(h *hold) bool { return !blocked[h.owner] })
		if at < 0 {
			return
		}
		h := p.queue[at]
		own := p.of[h.owner]
		if own == nil {
			own = &line{most: p.each}
		}
		if !own.fits(h) {
			block(h.owner)
			continue
		}
		if !p.all.fits(h) {
			return
		}
		p.queue = slices.Delete(p.queue, at, at+1)
		p.of[h.owner] = own
		own.add(h)
		p.all.add(h)
		h.grant()
	}
}

func (h *hold) grant() {
	h.held, h.wants = h.held+h.wants, 0
	close(h.granted)
}

func (l *line) add(h *hold) {
	l.held += h.wants
	l.holds = append(l.holds, h)
}

func (l *line) remove(h *hold) {
	l.held -= h.held
	l.holds = slices.DeleteFunc(l.holds, func(other *hold) bool { return other == h })
}

// fits says whether the line's rule still holds when h has what it wants.
func (l *line) fits(h *hold) bool {
	left := l.most - l.held - h.wants
	if left < 0 || len(l.holds) == 0 || l.holds[0] == h {
		return left >= 0
	}
	var need int64
	if h.held+h.wants < h.claim {
		need = h.claim
	}
	for _, other := range l.holds {
		if other != h && other.held < other.claim {
			need = max(need, other.claim)
		}
	}
	return left+l.holds[0].held >= need
}
