package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"deedkeep/app/inspect"
)

// ErrClosed says that the pool has been closed.
var ErrClosed = errors.New("reader is closed")

// Stats are counts since the pool was opened, but for Alive.
type Stats struct {
	Alive   int // children now
	Started int // children that have greeted
	Killed  int // children that have ended since, nearly all by the pool's hand
	Served  int // documents with a verdict
}

// Pool holds the children. Its methods may be called from several goroutines.
type Pool struct {
	options Options
	broken  error         // why options could not be completed
	slots   chan struct{} // one per document being inspected
	starter *starter
	ctx     context.Context // ends with the pool: every wait of the pool looks at it
	cancel  context.CancelFunc
	busy    sync.WaitGroup // calls of Inspect
	once    sync.Once      // Close

	mu     sync.Mutex
	closed bool
	idle   []*process
	stats  Stats
}

// Open returns a pool; the first child starts with the first document. The
// caller closes it.
func Open(o Options) *Pool {
	o, err := o.complete()
	p := &Pool{options: o, broken: err, slots: make(chan struct{}, o.Processes)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.starter = newStarter()
	return p
}

// Inspect says what doc is, as inspect.Inspect does, in a child. A document
// over which a child dies, spins or swells is refused: a .pdf with
// inspect.PDFUnreadable, any other with inspect.Mismatch(ext). Errors are never
// the document's: ctx's, ErrClosed, those of doc, a child that cannot be
// started, or an engine that is missing.
func (p *Pool) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim inspect.Limits) (inspect.Report, error) {
	if err := p.enter(ctx); err != nil {
		return inspect.Report{}, err
	}
	defer p.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()

	report, err := p.attempts(ctx, doc, task{Task: taskInspect, Size: size, Ext: ext, Limits: lim})
	if err != nil && p.ctx.Err() != nil {
		return inspect.Report{}, ErrClosed
	}
	return report, err
}

// enter waits for a slot.
func (p *Pool) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err // no child need be killed over it
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return ErrClosed
	}
	p.busy.Add(1)
	p.mu.Unlock()
	err := p.broken
	if err == nil {
		select {
		case p.slots <- struct{}{}:
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-p.ctx.Done():
			err = ErrClosed
		}
	}
	p.busy.Done()
	return err
}

func (p *Pool) leave() {
	<-p.slots
	p.busy.Done()
}

// attempts has the document inspected, a second time by a fresh child when the
// first one died for no reason that is known to be the document.
func (p *Pool) attempts(ctx context.Context, doc io.ReaderAt, t task) (inspect.Report, error) {
	for attempt := 1; ; attempt++ {
		child, err := p.child(ctx, attempt > 1)
		if err != nil {
			return inspect.Report{}, fmt.Errorf("start document process: %w", err)
		}
		report, retire, err := child.inspect(ctx, p.options, doc, t)
		var lost *documentError
		var fault *faultError
		switch {
		case err == nil:
			p.put(child, retire)
			p.served()
			return report, nil
		case errors.As(err, &lost), errors.As(err, &fault):
			p.put(child, retire)
			return inspect.Report{}, err
		}
		p.end(child)
		if ctx.Err() != nil {
			return inspect.Report{}, ctx.Err()
		}
		child.logEnd(p.options.Log, err)
		if attempt > 1 || errors.Is(err, errDeadline) || errors.Is(err, errMemory) {
			p.served()
			return inspect.Report{Refusal: refusal(t.Ext)}, nil
		}
	}
}

// refusal is what is said of a document that no child came through.
func refusal(ext string) string {
	if ext == "pdf" {
		return inspect.PDFUnreadable
	}
	return inspect.Mismatch(ext)
}

// child returns an idle child, or a new one.
func (p *Pool) child(ctx context.Context, fresh bool) (*process, error) {
	for !fresh {
		c := p.pop()
		if c == nil {
			break
		}
		if !c.gone() {
			return c, nil
		}
		p.end(c)
	}
	c, err := p.starter.start(ctx, p.options)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Started++
	p.stats.Alive++
	return c, nil
}

func (p *Pool) pop() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c
}

// put takes a child back that has come to the end of a document.
func (p *Pool) put(c *process, retire bool) {
	if retire {
		p.end(c)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

func (p *Pool) served() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Served++
}

// end kills a child.
func (p *Pool) end(c *process) {
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
	return p.stats
}

// Close kills every child and waits for them and for the calls of Inspect,
// which return ErrClosed. It is safe to call twice.
func (p *Pool) Close() error {
	p.once.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.cancel()
		p.busy.Wait()
		for c := p.pop(); c != nil; c = p.pop() {
			p.end(c)
		}
		p.starter.close()
	})
	return nil
}
