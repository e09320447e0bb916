package vault

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// jobs are what goes on behind those who asked for it. Close ends them and waits.
type jobs struct {
	mu      sync.Mutex
	closed  bool
	ctx     context.Context //nolint:containedctx // of every job, from Open to Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newJobs() *jobs {
	ctx, cancel := context.WithCancel(context.Background())
	return &jobs{ctx: ctx, cancel: cancel}
}

// begin runs fn behind the caller; Closing when the vault closes.
func (j *jobs) begin(fn func(ctx context.Context)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errClosing
	}
	j.running.Go(func() { fn(j.ctx) })
	return nil
}

func (j *jobs) close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.running.Wait()
}

var errClosing = &errs.Error{Kind: errs.Unavailable, Message: "The vault is closing."}

// Progress is how far a piece of long work has come, and what the last one came to.
// Done and Total are in the unit of the work, 0 while that is not known.
type Progress[T any] struct {
	Running      bool
	By           model.Actor
	Begun, Ended time.Time // of this one, or of the last; zero: there was none
	Done, Total  int64
	Result       T     // of one that has ended
	Err          error // why it has none
}

// job is one kind of long work, of which one goes on at a time.
type job[T any] struct {
	v  *Vault
	mu sync.Mutex
	at Progress[T]
}

// begin starts the work; Locked while it goes on already.
func (j *job[T]) begin(actor model.Actor, work func(ctx context.Context, report func(done, total int64)) (T, error)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.at.Running {
		return &errs.Error{Kind: errs.Locked, Message: "This is going on already."}
	}
	err := j.v.jobs.begin(func(ctx context.Context) {
		result, err := work(ctx, j.report)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.at.Running, j.at.Ended, j.at.Result, j.at.Err = false, j.v.now(), result, err
	})
	if err == nil {
		j.at = Progress[T]{Running: true, By: actor, Begun: j.v.now()}
	}
	return err
}

func (j *job[T]) report(done, total int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.at.Done, j.at.Total = done, total
}

func (j *job[T]) progress() Progress[T] {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.at
}
