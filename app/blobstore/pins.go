package blobstore

import (
	"context"
	"sync"
)

// pins keeps the sweep and everybody else apart, one digest at a time: a pinned
// digest is not swept, and whoever wants to pin one that is just being swept
// waits for that one removal. Nobody waits for the sweep as a whole.
type pins struct {
	mu    sync.Mutex
	held  map[Digest]int
	swept map[Digest]chan struct{}
}

func (p *pins) pin(ctx context.Context, d Digest) error {
	for {
		p.mu.Lock()
		gone, busy := p.swept[d]
		if !busy {
			if p.held == nil {
				p.held = map[Digest]int{}
			}
			p.held[d]++
		}
		p.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *pins) unpin(digests []Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range digests {
		if p.held[d]--; p.held[d] == 0 {
			delete(p.held, d)
		}
	}
}

// claim takes d for a removal; ok is false when it is pinned or claimed already.
func (p *pins) claim(d Digest) (done func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, busy := p.swept[d]; busy || p.held[d] > 0 {
		return nil, false
	}
	if p.swept == nil {
		p.swept = map[Digest]chan struct{}{}
	}
	gone := make(chan struct{})
	p.swept[d] = gone
	return func() {
		p.mu.Lock()
		delete(p.swept, d)
		p.mu.Unlock()
		close(gone)
	}, true
}

// Pin holds digests against the sweep until release, for whoever is about to
// commit a record that names blobs already there, or reads them while records
// may go (a backup). It does not say whether they exist. The only error is the
// context's; release may be called more than once.
func (s *Store) Pin(ctx context.Context, digests ...Digest) (release func(), err error) {
	for i, d := range digests {
		if err := s.pins.pin(ctx, d); err != nil {
			s.pins.unpin(digests[:i])
			return func() {}, err
		}
	}
	digests = append([]Digest(nil), digests...)
	return sync.OnceFunc(func() { s.pins.unpin(digests) }), nil
}
