package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"deedkeep/app/memory"
)

// ErrClosed reports that the pool has been closed.
var ErrClosed = errors.New("document reader is closed")

// Stats holds counters that start at zero when the pool is opened. Alive and Waiting are current
// values.
type Stats struct {
	Alive   int // current number of workers
	Started int // workers that have completed the handshake
	Killed  int // workers that have ended, except idle ones; the pool killed nearly all of them
	Served  int // documents that ended with a result or a document error
	Waiting int // calls that are currently waiting for a worker
}

// Pool processes documents in worker processes. Its methods are safe for concurrent use.
type Pool struct {
	options    Options
	optionsErr error // from Options.withDefaults; returned by every call
	queue      *queue
	starter    *starter
	ctx        context.Context // canceled by Close
	cancel     context.CancelFunc
	calls      sync.WaitGroup // calls in progress
	once       sync.Once      // for Close

	mu     sync.Mutex
	closed bool
	idle   []*worker
	alive  map[*worker]bool
	stats  Stats
}

// Open returns a pool. It doesn't start a worker until the first document arrives. The caller must
// close the pool.
func Open(o Options) *Pool {
	o, err := o.withDefaults()
	p := &Pool{options: o, optionsErr: err, queue: newQueue(max(o.Workers, 1), o.QueueSize), alive: map[*worker]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.starter = newStarter()
	return p
}

// run waits for a slot and runs the task on the document of r, and does so again each time the task is preempted. The
// result is stored in a.
func (p *Pool) run(ctx context.Context, r Request, t task, a result) error {
	if err := ctx.Err(); err != nil {
		return err // don't kill a worker for a call that is already canceled
	}
	if r.Class < 0 || r.Class >= numClasses {
		return fmt.Errorf("invalid task class %d", r.Class)
	}
	if err := p.beginCall(); err != nil {
		return err
	}
	defer p.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()

	t.Size, t.MIME, t.Ext = r.Size, r.MIME, r.Ext
	wt := &waiter{class: r.Class, owner: r.Owner}
	var err error
	for again := true; again; {
		again, err = p.runWithSlot(ctx, r, wt, t, a)
	}
	if err != nil && p.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}

// runWithSlot waits for a slot and runs the task in it. If again is true, the task was preempted
// and must be queued again.
func (p *Pool) runWithSlot(ctx context.Context, r Request, wt *waiter, t task, a result) (again bool, err error) {
	work := ctx
	if r.RunToCompletion {
		work = context.WithoutCancel(ctx)
	}
	work, wt.stop = context.WithCancel(work)
	defer wt.stop()
	if r.RunToCompletion {
		defer context.AfterFunc(p.ctx, wt.stop)()
	}
	if err := p.queue.acquire(ctx, wt); err != nil {
		return false, err
	}
	// This is deferred because the caller's document or callback may panic.
	defer func() {
		stopped := errors.Is(err, context.Canceled) && ctx.Err() == nil && p.ctx.Err() == nil
		again = p.queue.release(wt, stopped)
	}()
	return false, p.runWithRetry(work, r.Doc, t, a, func() { p.queue.started(wt) })
}

// beginCall adds a call to p.calls. It returns an error if the pool is closed or its options are
// invalid.
func (p *Pool) beginCall() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	if p.optionsErr == nil {
		p.calls.Add(1)
	}
	return p.optionsErr
}

// runWithRetry runs the task. If the worker dies for a reason that may not recur, it runs the task
// once more in a new worker. A worker killed from outside says nothing about the document, so it is
// also replaced, but only once. If the new one is killed too, the error is ErrKilled. begun is
// called each time a worker is about to get the document.
func (p *Pool) runWithRetry(ctx context.Context, doc io.ReaderAt, t task, a result, begun func()) error {
	for attempt, kills := 1, 0; ; attempt++ {
		w, used, err := p.worker(ctx, t, attempt+kills > 1)
		if err != nil {
			return fmt.Errorf("start document worker: %w", err)
		}
		begun()
		a.reset()
		err = p.runOnce(ctx, w, doc, t, a)
		if reusable(err) {
			return err
		}
		var receiver *callbackError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &receiver):
			return receiver.cause
		}
		w.logEnd(p.options.Log, err)
		if errors.Is(err, ErrKilled) {
			if kills++; kills > 1 {
				return err
			}
			attempt--
			continue
		}
		if attempt > 1 || !retryable(err, t, used) {
			p.countServed()
			return &workerDiedError{err}
		}
	}
}

// runOnce runs the task in one worker. Afterward, it returns the worker to the pool or kills it.
func (p *Pool) runOnce(ctx context.Context, w *worker, doc io.ReaderAt, t task, a result) (err error) {
	reuse := false
	defer func() {
		if reuse {
			p.putIdle(w)
		} else {
			p.stop(w)
		}
	}()
	retire, err := w.run(ctx, p.options, doc, t, a)
	reuse = reusable(err) && !retire
	if err == nil || reusable(err) && IsDocumentError(err) {
		p.countServed()
	}
	return err
}

// reusable reports whether a worker can be used again after its task ended with err.
func reusable(err error) bool {
	var lost *docReadError
	var fault *workerError
	return err == nil || errors.As(err, &lost) || errors.As(err, &fault)
}

// retryable reports whether the task may succeed in another worker. If a new worker exceeded its
// deadline or memory limit, another one would, too. An inspection isn't retried after a deadline
// because a user is waiting for it, and a page isn't because the caller of ReadPage reads it again
// after the other pages.
func retryable(err error, t task, used bool) bool {
	switch {
	case errors.Is(err, errDeadline):
		return used && t.Task != taskInspect && t.Task != taskOCR
	case errors.Is(err, errMemory):
		return used
	}
	return true
}

// worker returns a worker that can run t. It starts one if fresh is true or no suitable worker is
// idle. used reports that the worker has processed documents before.
func (p *Pool) worker(ctx context.Context, t task, fresh bool) (c *worker, used bool, err error) {
	need := needs(t)
	for !fresh {
		if c = p.takeIdle(need); c == nil {
			break
		}
		if !c.hasExited() && c.loaded.cover(need) {
			return c, true, nil
		}
		p.stop(c)
	}
	if c, err = p.starter.start(ctx, p.options, need); err != nil {
		return nil, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Started++
	p.alive[c] = true
	return c, false, nil
}

// takeIdle removes and returns the most recently used idle worker. It prefers workers that have
// loaded the needed engines. It returns nil if no worker is idle.
func (p *Pool) takeIdle(need engines) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := len(p.idle) - 1
	if at < 0 {
		return nil
	}
	for i := at; i >= 0; i-- {
		if p.idle[i].loaded.cover(need) {
			at = i
			break
		}
	}
	c := p.idle[at]
	c.idleTimer.Stop()
	p.idle = slices.Delete(p.idle, at, at+1)
	return c
}

// putIdle returns a worker to the pool after it has completed its document. It ends when it has been
// idle for Options.IdleTime.
func (p *Pool) putIdle(c *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.idleSince = time.Now()
	p.idle = append(p.idle, c)
	if c.idleTimer == nil {
		c.idleTimer = time.AfterFunc(p.options.IdleTime, func() { p.endIdle(c) })
	} else {
		c.idleTimer.Reset(p.options.IdleTime)
	}
}

// endIdle ends a worker that has been idle for Options.IdleTime, which gives its memory back.
func (p *Pool) endIdle(c *worker) {
	if p.beginCall() != nil {
		return // Close ends it
	}
	defer p.calls.Done()
	p.mu.Lock()
	at := slices.Index(p.idle, c)
	if at < 0 || time.Since(c.idleSince) < p.options.IdleTime {
		p.mu.Unlock()
		return // it has worked in the meantime
	}
	p.idle = slices.Delete(p.idle, at, at+1)
	p.mu.Unlock()
	p.end(c)
}

func (p *Pool) countServed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Served++
}

// end kills a worker.
func (p *Pool) end(c *worker) {
	c.kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.alive, c)
}

// stop kills a worker and counts it.
func (p *Pool) stop(c *worker) {
	p.end(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Killed++
}

// Memory returns the memory of the workers. Its Type is Options.Name.
func (p *Pool) Memory() memory.Processes {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := memory.Processes{Type: p.options.Name}
	for c := range p.alive {
		all.Add(memory.Of(c.cmd.Process.Pid))
	}
	return all
}

// Stats returns the current counters.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Alive, s.Waiting = len(p.alive), p.queue.waiting()
	return s
}

// Close kills all workers. It waits for them and for the calls in progress, which return ErrClosed.
// Close may be called more than once.
func (p *Pool) Close() error {
	p.once.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.cancel()
		p.calls.Wait()
		for c := p.takeIdle(engines{}); c != nil; c = p.takeIdle(engines{}) {
			p.stop(c)
		}
		p.starter.close()
	})
	return nil
}
