package httpx

import (
	"context"
	"slices"
	"sync"
)

// memoryPool is memory that growing bodies share. Each owner can use at most maxPerOwner bytes of it.
//
// A body keeps its memory while it waits for more, so bodies could wait for each other forever. To prevent such
// deadlocks, the pool always keeps enough memory free for the oldest body to reach its full size. It does the same for
// the oldest body of each owner, within that owner's maximum:
//
//	free + held by the oldest ≥ the largest maxSize of all that still grow
//
// The oldest body in the pool is also the oldest of its owner, so it never waits. When it ends, its memory is
// released, and the rule applies to the next oldest body.
type memoryPool struct {
	maxPerOwner int64

	mu      sync.Mutex
	all     allocationList
	byOwner map[string]*allocationList // doesn't contain empty lists
	queue   []*allocation              // allocations that hold no memory yet and are waiting, first come, first served
}

// allocation is the memory of one body in a pool.
type allocation struct {
	owner   string
	held    int64         // bytes that the body has
	maxSize int64         // bytes that the body needs at its full size
	wants   int64         // additional bytes that the body is waiting for
	granted chan struct{} // closed when the body gets these bytes
}

// allocationList lists the allocations that share limit bytes, oldest first.
type allocationList struct {
	limit, held int64
	allocations []*allocation
}

// newMemoryPool returns a pool of size bytes. One owner can have at most maxPerOwner bytes.
func newMemoryPool(size, maxPerOwner int64) *memoryPool {
	return &memoryPool{maxPerOwner: maxPerOwner, all: allocationList{limit: size}, byOwner: map[string]*allocationList{}}
}

// announce sets the owner and the full size of a body. It must be called before the body's first acquire. The full
// size is capped at the owner's maximum.
func (p *memoryPool) announce(a *allocation, owner string, maxSize int64) {
	a.owner, a.maxSize = owner, min(maxSize, p.maxPerOwner)
}

// acquire waits until the body has size bytes in total. If it has to wait, it calls waiting to get the context that
// limits the wait.
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
	if a.wants == 0 { // granted just before the lock was acquired
		return nil
	}
	a.wants = 0
	p.queue = slices.DeleteFunc(p.queue, func(other *allocation) bool { return other == a })
	p.serve()
	return ctx.Err()
}

// shrink records that a body won't grow anymore, so its full size is what it holds now.
func (p *memoryPool) shrink(a *allocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.maxSize != a.held {
		a.maxSize = a.held
		p.serve()
	}
}

// release releases all memory of a body.
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

// serve grants as many requests as it can: first to bodies that already hold memory, oldest first, then to the queue.
// A body never overtakes an older waiting body, unless the older one is waiting only because its owner has reached
// its maximum.
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

// fits reports whether the rule of memoryPool still applies to this list after a gets the memory it wants.
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
