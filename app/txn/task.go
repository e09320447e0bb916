package txn

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Tasks are what goes on behind those who asked for it. Close ends them and waits.
type Tasks struct {
	mu      sync.Mutex
	closed  bool
	ctx     context.Context //nolint:containedctx // of every job, from Open to Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func NewTasks() *Tasks {
	ctx, cancel := context.WithCancel(context.Background())
	return &Tasks{ctx: ctx, cancel: cancel}
}

// Start runs fn behind the caller; Closing when the vault closes.
func (j *Tasks) Start(fn func(ctx context.Context)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return ErrClosing
	}
	j.running.Go(func() { fn(j.ctx) })
	return nil
}

func (j *Tasks) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.running.Wait()
}

var ErrClosing = &errs.Error{Kind: errs.Unavailable, Message: "The vault is closing."}

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

// Task is one kind of long work, of which one goes on at a time.
type Task[T any] struct {
	DB       *DB
	mu       sync.Mutex
	progress Progress[T]
}

// Start starts the work; Locked while it goes on already.
func (j *Task[T]) Start(actor model.Actor, work func(ctx context.Context, report func(done, total int64)) (T, error)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.progress.Running {
		return &errs.Error{Kind: errs.Locked, Message: "This is going on already."}
	}
	err := j.DB.Tasks.Start(func(ctx context.Context) {
		result, err := work(ctx, j.report)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.progress.Running, j.progress.Ended, j.progress.Result, j.progress.Err = false, j.DB.Now(), result, err
	})
	if err == nil {
		j.progress = Progress[T]{Running: true, By: actor, Begun: j.DB.Now()}
	}
	return err
}

func (j *Task[T]) report(done, total int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress.Done, j.progress.Total = done, total
}

func (j *Task[T]) Progress() Progress[T] {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.progress
}
