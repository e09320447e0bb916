package sandbox

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// The delay before the next start grows while workers fail to start.
const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = 10 * time.Second
	// maxRetryDelay is the delay up to which a call retries internally.
	maxRetryDelay = time.Second
)

// starter starts workers, one at a time, on a dedicated thread that lives as long as they do:
// Linux kills a child process when the thread that started it ends.
type starter struct {
	jobs    chan func()
	done    chan struct{}
	once    sync.Once
	missing atomic.Pointer[[]MissingProtection] // of the most recently started worker

	lock       chan struct{} // held while a worker is started; guards the fields below
	delay      time.Duration // 0 after a success
	needEngine bool          // a worker needed PDFium, so load it in all new ones
	nextStart  time.Time     // no start before
}

func newStarter() *starter {
	return &starter{jobs: make(chan func()), done: make(chan struct{}), lock: make(chan struct{}, 1)}
}

// run executes jobs on the dedicated thread. The thread is never unlocked, so it ends with the
// goroutine.
func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread()
	for job := range s.jobs {
		job()
	}
}

// start returns a worker that has completed the handshake, with PDFium loaded if engine is set.
// It waits while workers keep failing to start, and retries while the delay is short.
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

// wait waits for the delay.
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

// startOne starts one worker on the dedicated thread and performs the handshake.
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

// close ends the thread. All workers must have been stopped.
func (s *starter) close() {
	s.once.Do(func() { close(s.done) })
	close(s.jobs)
	<-s.done
}
