package sandbox

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Delays before the next start. The delay grows with each failed start.
const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = 10 * time.Second
	// maxRetryDelay is the maximum delay after which a call still retries automatically.
	maxRetryDelay = time.Second
)

// starter starts workers, one at a time. It uses a dedicated thread that lives as long as the
// workers do, because Linux kills a child process when the thread that started it ends.
type starter struct {
	jobs    chan func()
	done    chan struct{}
	once    sync.Once
	missing atomic.Pointer[[]MissingProtection] // missing in the most recently started worker
	bad     atomic.Pointer[[]BadLanguage]       // in the most recently started worker that reads images

	lock      chan struct{} // held while a worker is started; guards the fields below
	delay     time.Duration // 0 after a successful start
	need      engines       // engines that documents needed; load them in all new workers
	nextStart time.Time     // earliest time of the next start
}

func newStarter() *starter {
	return &starter{jobs: make(chan func()), done: make(chan struct{}), lock: make(chan struct{}, 1)}
}

// run executes jobs on the dedicated thread. It never unlocks the thread, so the thread ends with
// the goroutine.
func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread()
	for job := range s.jobs {
		job()
	}
}

// start starts a worker and returns it after the handshake. The worker has loaded the needed
// engines. If earlier starts failed, start waits first. If this start fails, it retries while the
// delay is short.
func (s *starter) start(ctx context.Context, o Options, need engines) (*worker, error) {
	s.once.Do(func() { go s.run() })
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.lock }()
	s.need = s.need.with(need)
	for {
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
		p, err := s.startOne(ctx, o, s.need)
		if err == nil {
			s.delay = 0
			s.missing.Store(&p.missing)
			if s.need.OCR {
				s.reportLanguages(o.Log, p.badLanguages)
			}
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
		o.Log.Warn("worker process did not start", "cause", err, "again_in", s.delay)
	}
}

// reportLanguages stores the languages that can't be used and logs those that weren't known yet.
func (s *starter) reportLanguages(log *slog.Logger, bad []BadLanguage) {
	var known []BadLanguage
	if last := s.bad.Swap(&bad); last != nil {
		known = *last
	}
	for _, l := range bad {
		if !slices.Contains(known, l) {
			log.Warn("OCR does not use a language; check ocr.languages and the language file", "language", l.Name, "cause", l.Reason)
		}
	}
}

// wait waits until the next start is allowed.
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
func (s *starter) startOne(ctx context.Context, o Options, load engines) (*worker, error) {
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
	if err := p.handshake(ctx, o, load); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// close ends the thread. The caller must have stopped all workers.
func (s *starter) close() {
	s.once.Do(func() { close(s.done) })
	close(s.jobs)
	<-s.done
}
