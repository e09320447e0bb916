package sandbox

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The delay before the next start grows while children die at the start.
const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = 10 * time.Second
	// maxRetryDelay is the delay up to which one call tries again by itself.
	maxRetryDelay = time.Second
)

// starter starts children, one after another, on one thread of its own that
// lives as long as they do: Linux kills a child when the thread that started it
// ends.
type starter struct {
	jobs    chan func()
	done    chan struct{}
	once    sync.Once
	missing atomic.Pointer[[]MissingProtection] // of the child that started last

	lock       chan struct{} // held by the one who starts, and guards what follows
	delay      time.Duration // 0 after a success
	needEngine bool          // one child needed PDFium: the next ones may too
	nextStart  time.Time     // no start before
}

func newStarter() *starter {
	return &starter{jobs: make(chan func()), done: make(chan struct{}), lock: make(chan struct{}, 1)}
}

// run is the thread. It is never unlocked, so the thread ends with it.
func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread()
	for job := range s.jobs {
		job()
	}
}

// start returns a child that has greeted, with PDFium loaded where engine says so. It
// waits while children keep dying at the start, and tries again while the wait
// is short.
func (s *starter) start(ctx context.Context, o Options, engine bool) (*worker, error) {
	s.once.Do(func() { go s.run() })
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.lock }()
	s.needEngine = s.needEngine || engine
	for {
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
		p, err := s.startOne(ctx, o, s.needEngine)
		if err == nil {
			s.delay = 0
			s.missing.Store(&p.missing)
			return p, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.delay = min(max(2*s.delay, firstDelay), maxDelay)
		s.nextStart = time.Now().Add(s.delay)
		if s.delay > maxRetryDelay {
			return nil, err
		}
		o.Log.Warn("document process did not start", "cause", err, "again_in", s.delay)
	}
}

// wait lets the delay pass.
func (s *starter) wait(ctx context.Context) error {
	if s.delay == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Until(s.nextStart))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startOne starts one child on the thread and greets it.
func (s *starter) startOne(ctx context.Context, o Options, engine bool) (*worker, error) {
	var p *worker
	var err error
	launched := make(chan struct{})
	s.jobs <- func() {
		defer close(launched)
		p, err = launch(o)
	}
	<-launched
	if err != nil {
		return nil, err
	}
	if err := p.handshake(ctx, o, engine); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// close ends the thread; nobody starts children any more, and all are dead.
func (s *starter) close() {
	s.once.Do(func() { close(s.done) })
	close(s.jobs)
	<-s.done
}
