package txn

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Tasks runs background work that continues after the request that started it. Close
// cancels it and waits for it to finish.
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

// Start runs fn in a new goroutine. The context of fn is canceled by Close. Start returns
// ErrClosing after Close.
func (j *Tasks) Start(fn func(ctx context.Context)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return ErrClosing
	}
	j.running.Go(func() { fn(j.ctx) })
	return nil
}

// Close cancels all tasks and waits until they have returned.
func (j *Tasks) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.running.Wait()
}

// ErrClosing is returned for a task that is started while the vault is closing.
var ErrClosing = &errs.Error{Kind: errs.Unavailable, Message: "The vault is closing."}

// Progress is the state of a long-running task and the result of its last run. Done and
// Total are in units of the task; they are 0 until known.
type Progress[T any] struct {
	Running      bool
	By           model.Actor
	Begun, Ended time.Time // of the current or last run; zero if there was none
	Done, Total  int64
	Result       T     // of a run that succeeded
	Err          error // why the last run failed
}

// Task is one kind of long-running work. Only one run is active at a time.
type Task[T any] struct {
	DB       *DB
	mu       sync.Mutex
	progress Progress[T]
}

// Start starts work in the background. It returns a Locked error if a run is active.
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

// Progress returns the state of the current run, or of the last one.
func (j *Task[T]) Progress() Progress[T] {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.progress
}
