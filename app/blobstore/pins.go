package blobstore

import (
	"context"
	"sync"
)

// pins coordinates the sweep with all other operations, separately for each digest. A
// pinned digest is not swept. A caller that pins a digest while its blob is being removed
// waits for that removal only.
type pins struct {
	mu       sync.Mutex
	pinned   map[Digest]int
	removing map[Digest]chan struct{}
}

func (p *pins) pin(ctx context.Context, d Digest) error {
	for {
		p.mu.Lock()
		gone, busy := p.removing[d]
		if !busy {
			if p.pinned == nil {
				p.pinned = map[Digest]int{}
			}
			p.pinned[d]++
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
		if p.pinned[d]--; p.pinned[d] == 0 {
			delete(p.pinned, d)
		}
	}
}

// beginRemoval reserves d for removal until done is called. ok is false if d is pinned or
// is already being removed.
func (p *pins) beginRemoval(d Digest) (done func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, busy := p.removing[d]; busy || p.pinned[d] > 0 {
		return nil, false
	}
	if p.removing == nil {
		p.removing = map[Digest]chan struct{}{}
	}
	gone := make(chan struct{})
	p.removing[d] = gone
	return func() {
		p.mu.Lock()
		delete(p.removing, d)
		p.mu.Unlock()
		close(gone)
	}, true
}

// Pin protects digests from the sweep until release is called. Callers pin blobs before
// they commit a record that references them. They also pin blobs that they read while the
// records may be deleted, for example during a backup. Pin doesn't check whether the
// blobs exist. It returns an error only if the context ends. release may be called more
// than once.
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
