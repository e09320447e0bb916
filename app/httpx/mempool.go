package httpx

import (
	"context"
	"slices"
	"sync"
)

// memoryPool is a number of bytes that bodies share while they grow. Each owner can have at most a part of it.
//
// A body keeps its memory while it waits for more, so without care bodies could wait for each other
// forever. The pool rules that out: it keeps enough free for the oldest body to reach its
// full size, and for the oldest body of each owner within that owner's part:
//
//	free + held by the oldest ≥ the largest maxSize of all that still grow
//
// The oldest body of all is also the oldest of its owner, so it never waits. When it ends,
// its memory is released, and the rule is true for the next one.
type memoryPool struct {
	maxPerOwner int64

	mu      sync.Mutex
	all     allocationList
	byOwner map[string]*allocationList // without empty lists
	queue   []*allocation              // those that wait and hold nothing, first come, first served
}

// allocation is what one body has of a pool.
type allocation struct {
	owner   string
	held    int64         // bytes
	maxSize int64         // bytes that it holds at its full size
	wants   int64         // more bytes that it waits for
	granted chan struct{} // closed when it has them
}

// allocationList lists the bodies that share limit bytes, the oldest first.
type allocationList struct {
	limit, held int64
	allocations []*allocation
}

// newMemoryPool returns a pool of size bytes, of which one owner has at most maxPerOwner.
func newMemoryPool(size, maxPerOwner int64) *memoryPool {
	return &memoryPool{maxPerOwner: maxPerOwner, all: allocationList{limit: size}, byOwner: map[string]*allocationList{}}
}

// announce sets the full size of a body, before its first acquire. No body counts
// for more than its owner's part.
func (p *memoryPool) announce(a *allocation, owner string, maxSize int64) {
	a.owner, a.maxSize = owner, min(maxSize, p.maxPerOwner)
}

// acquire waits until a body holds size bytes in all. waiting returns the context that bounds the wait; it is called
// only if there is one.
func (p *memoryPool) acquire(a *allocation, size int64, waiting func() (context.Context, context.CancelFunc)) error {
	p.mu.Lock()
	a.wants = max(0, min(size, a.maxSize)-a.held)
	if a.wants > 0 {
		a.granted = make(chan struct{})
		if a.held == 0 {
			p.queue = append(p.queue, a)
		}
		p.serve()
	}
	done := a.wants == 0
	p.mu.Unlock()
	if done {
		return nil
	}
	ctx, cancel := waiting()
	defer cancel()
	select {
	case <-a.granted:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.wants == 0 { // granted at the same moment
		return nil
	}
	a.wants = 0
	p.queue = slices.DeleteFunc(p.queue, func(other *allocation) bool { return other == a })
	p.serve()
	return ctx.Err()
}

// shrink records that a body grows no more: its full size is what it holds.
func (p *memoryPool) shrink(a *allocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.maxSize != a.held {
		a.maxSize = a.held
		p.serve()
	}
}

// release releases everything that a body holds.
func (p *memoryPool) release(a *allocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.held == 0 {
		return
	}
	own := p.byOwner[a.owner]
	p.all.remove(a)
	if own.remove(a); len(own.allocations) == 0 {
		delete(p.byOwner, a.owner)
	}
	a.held, a.maxSize = 0, 0
	p.serve()
}

func (p *memoryPool) inUse() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.held
}

// serve grants what can be granted: first to bodies that hold something, the oldest
// first, then to the queue. No body overtakes an older one that
// waits, except one that waits only because its owner has too much.
func (p *memoryPool) serve() {
	var blocked map[string]bool
	block := func(owner string) {
		if blocked == nil {
			blocked = map[string]bool{}
		}
		blocked[owner] = true
	}
	for _, a := range p.all.allocations {
		switch own := p.byOwner[a.owner]; {
		case a.wants == 0 || blocked[a.owner]:
		case !own.fits(a):
			block(a.owner)
		case !p.all.fits(a):
			return
		default:
			p.all.held += a.wants
			own.held += a.wants
			a.grant()
		}
	}
	for len(p.queue) > 0 {
		i := slices.IndexFunc(p.queue, func(a *allocation) bool { return !blocked[a.owner] })
		if i < 0 {
			return
		}
		a := p.queue[i]
		own := p.byOwner[a.owner]
		if own == nil {
			own = &allocationList{limit: p.maxPerOwner}
		}
		if !own.fits(a) {
			block(a.owner)
			continue
		}
		if !p.all.fits(a) {
			return
		}
		p.queue = slices.Delete(p.queue, i, i+1)
		p.byOwner[a.owner] = own
		own.add(a)
		p.all.add(a)
		a.grant()
	}
}

func (a *allocation) grant() {
	a.held, a.wants = a.held+a.wants, 0
	close(a.granted)
}

func (l *allocationList) add(a *allocation) {
	l.held += a.wants
	l.allocations = append(l.allocations, a)
}

func (l *allocationList) remove(a *allocation) {
	l.held -= a.held
	l.allocations = slices.DeleteFunc(l.allocations, func(other *allocation) bool { return other == a })
}

// fits reports whether the rule of memoryPool is still true for this list after a gets what it wants.
func (l *allocationList) fits(a *allocation) bool {
	free := l.limit - l.held - a.wants
	if free < 0 || len(l.allocations) == 0 || l.allocations[0] == a {
		return free >= 0
	}
	var need int64
	if a.held+a.wants < a.maxSize {
		need = a.maxSize
	}
	for _, other := range l.allocations {
		if other != a && other.held < other.maxSize {
			need = max(need, other.maxSize)
		}
	}
	return free+l.allocations[0].held >= need
}
