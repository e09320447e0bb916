package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// ErrClosed says that the pool has been closed.
var ErrClosed = errors.New("reader is closed")

// Stats are counts since the pool was opened, but for Alive.
type Stats struct {
	Alive   int // children now
	Started int // children that have greeted
	Killed  int // children that have ended since, nearly all by the pool's hand
	Served  int // documents with a verdict, a picture, their text or a finding
	Waiting int // calls that wait for a child now
}

// Pool holds the children. Its methods may be called from several goroutines.
type Pool struct {
	options    Options
	optionsErr error // why options could not be completed
	queue      *queue
	starter    *starter
	ctx        context.Context // ends with the pool: every wait of the pool looks at it
	cancel     context.CancelFunc
	calls      sync.WaitGroup // calls
	once       sync.Once      // Close

	mu     sync.Mutex
	closed bool
	idle   []*worker
	stats  Stats
}

// Open returns a pool; the first child starts with the first document. The
// caller closes it.
func Open(o Options) *Pool {
	o, err := o.withDefaults()
	p := &Pool{options: o, optionsErr: err, queue: newQueue(max(o.Workers, 1), o.QueueSize)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.starter = newStarter()
	return p
}

// run has a task done once it is its turn.
func (p *Pool) run(ctx context.Context, r Request, t task, a result) error {
	if err := ctx.Err(); err != nil {
		return err // no child need be killed over it
	}
	if r.Class < 0 || r.Class >= numClasses {
		return fmt.Errorf("work of class %d", r.Class)
	}
	if err := p.beginCall(); err != nil {
		return err
	}
	defer p.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()

	place := &waiter{class: r.Class, owner: r.Owner}
	var err error
	for again := true; again; {
		again, err = p.runWithSlot(ctx, r, place, t, a)
	}
	if err != nil && p.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}

// runWithSlot waits for a slot and has a task done with it. again says that the slot was needed
// for another owner before the end, and that the task waits for the next one.
func (p *Pool) runWithSlot(ctx context.Context, r Request, place *waiter, t task, a result) (again bool, err error) {
	work := ctx
	if r.RunToCompletion {
		work = context.WithoutCancel(ctx)
	}
	work, place.stop = context.WithCancel(work)
	defer place.stop()
	if r.RunToCompletion {
		defer context.AfterFunc(p.ctx, place.stop)()
	}
	if err := p.queue.acquire(ctx, place); err != nil {
		return false, err
	}
	// Deferred: what the caller handed in may panic.
	defer func() {
		stopped := errors.Is(err, context.Canceled) && ctx.Err() == nil && p.ctx.Err() == nil
		again = p.queue.release(place, stopped)
	}()
	return false, p.runWithRetry(work, r.Doc, t, a, func() { p.queue.started(place) })
}

// beginCall counts a call that Close waits for.
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

// runWithRetry has a task done, a second time by a fresh child when the first one
// died and that may have been its own fault or that of a document before. A child
// that was killed from outside says nothing about the document; after a second one
// the error is ErrKilled. begun is called when a child has the document.
func (p *Pool) runWithRetry(ctx context.Context, doc io.ReaderAt, t task, a result, begun func()) error {
	for attempt, kills := 1, 0; ; attempt++ {
		child, used, err := p.worker(ctx, t, attempt+kills > 1)
		if err != nil {
			return fmt.Errorf("start document process: %w", err)
		}
		begun()
		a.reset()
		err = p.runOnce(ctx, child, doc, t, a)
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
		child.logEnd(p.options.Log, err)
		if errors.Is(err, ErrKilled) {
			if kills++; kills > 1 {
				return err
			}
			attempt--
			continue
		}
		if attempt > 1 || !retryable(err, t, used) {
			p.countServed()
			return &workerDied{err}
		}
	}
}

// runOnce has a task done by one child, which it then puts back or ends.
func (p *Pool) runOnce(ctx context.Context, child *worker, doc io.ReaderAt, t task, a result) (err error) {
	keep := false
	defer func() {
		if keep {
			p.putIdle(child)
		} else {
			p.stop(child)
		}
	}()
	retire, err := child.run(ctx, p.options, doc, t, a)
	keep = reusable(err) && !retire
	if err == nil || reusable(err) && IsDocumentError(err) {
		p.countServed()
	}
	return err
}

// reusable reports whether a child can be talked to after err.
func reusable(err error) bool {
	var lost *docReadError
	var fault *workerError
	return err == nil || errors.As(err, &lost) || errors.As(err, &fault)
}

// retryable reports whether a death is worth a second attempt. A fresh child that is
// late or swollen would be so again; over an inspection somebody waits, who is
// not to wait for two deadlines.
func retryable(death error, t task, used bool) bool {
	switch {
	case errors.Is(death, errDeadline):
		return used && t.Task != taskInspect
	case errors.Is(death, errMemory):
		return used
	}
	return true
}

// worker returns an idle child that can do t, which has been used, or a new one.
func (p *Pool) worker(ctx context.Context, t task, fresh bool) (c *worker, used bool, err error) {
	engine := needsEngine(t)
	for !fresh {
		if c = p.takeIdle(engine); c == nil {
			break
		}
		if !c.hasExited() && (c.engine || !engine) {
			return c, true, nil
		}
		p.stop(c)
	}
	if c, err = p.starter.start(ctx, p.options, engine); err != nil {
		return nil, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Started++
	p.stats.Alive++
	return c, false, nil
}

// takeIdle takes the idle child that was used last, if possible one with PDFium where engine
// says so.
func (p *Pool) takeIdle(engine bool) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := len(p.idle) - 1
	if at < 0 {
		return nil
	}
	for i := at; engine && i >= 0; i-- {
		if p.idle[i].engine {
			at = i
			break
		}
	}
	c := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	return c
}

// putIdle takes a child back that has come to the end of a document.
func (p *Pool) putIdle(c *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

func (p *Pool) countServed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Served++
}

// stop kills a child.
func (p *Pool) stop(c *worker) {
	c.kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Alive--
	p.stats.Killed++
}

// Stats returns the counts of the moment.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Waiting = p.queue.waiting()
	return s
}

// Close kills every child and waits for them and for the calls,
// which return ErrClosed. It is safe to call twice.
func (p *Pool) Close() error {
	p.once.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.cancel()
		p.calls.Wait()
		for c := p.takeIdle(false); c != nil; c = p.takeIdle(false) {
			p.stop(c)
		}
		p.starter.close()
	})
	return nil
}
