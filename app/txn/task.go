package txn

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Tasks runs background work that continues after the request that started it has ended.
// Close cancels the work and waits for it to finish.
type Tasks struct {
	mu      sync.Mutex
	closed  bool
	ctx     context.Context //nolint:containedctx // the parent of all task contexts
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewTasks returns an empty set of tasks.
func NewTasks() *Tasks {
	ctx, cancel := context.WithCancel(context.Background())
	return &Tasks{ctx: ctx, cancel: cancel}
}

// Start runs fn in a new goroutine. Close cancels the context that is passed to fn. After
// Close, Start returns ErrClosing.
func (t *Tasks) Start(fn func(ctx context.Context)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrClosing
	}
	t.running.Go(func() { fn(t.ctx) })
	return nil
}

// Close cancels all tasks and waits until they have returned.
func (t *Tasks) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
	t.running.Wait()
}

// ErrClosing is returned if a task is started while the vault is closing.
var ErrClosing = &errs.Error{Kind: errs.Unavailable, Message: "The vault is closing."}

// Progress is the state of a long-running task and the result of its last run. The unit of
// Done and Total depends on the task. They are 0 until they are known.
type Progress[T any] struct {
	Running      bool
	By           model.Actor
	Begun, Ended time.Time // times of the current or last run; zero if there was none
	Done, Total  int64
	Result       T     // result of the last successful run
	Err          error // error of the last run, if it failed
}

// Task is a type of long-running work. Only one run can be active at a time.
type Task[T any] struct {
	DB       *DB
	mu       sync.Mutex
	progress Progress[T]
}

// Start starts work in the background. It returns a Locked error if a run is already
// active.
func (t *Task[T]) Start(actor model.Actor, work func(ctx context.Context, report func(done, total int64)) (T, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress.Running {
		return &errs.Error{Kind: errs.Locked, Message: "This is going on already."}
	}
	err := t.DB.Tasks.Start(func(ctx context.Context) {
		result, err := work(ctx, t.report)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.progress.Running, t.progress.Ended, t.progress.Result, t.progress.Err = false, t.DB.Now(), result, err
	})
	if err == nil {
		t.progress = Progress[T]{Running: true, By: actor, Begun: t.DB.Now()}
	}
	return err
}

func (t *Task[T]) report(done, total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress.Done, t.progress.Total = done, total
}

// Progress returns the state of the current run or, if none is active, of the last one.
func (t *Task[T]) Progress() Progress[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress
}
