package txn

import (
	"cmp"
	"context"
	"errors"
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

// Join counts work of the calling goroutine as a task until done is called. The returned
// context ends when ctx ends or Close is called. After Close, Join returns ErrClosing.
func (t *Tasks) Join(ctx context.Context) (joined context.Context, done func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, ErrClosing
	}
	t.running.Add(1)
	joined, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.ctx, cancel)
	return joined, func() {
		stop()
		cancel()
		t.running.Done()
	}, nil
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
var ErrClosing = errs.ServerStopping()

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
	Busy     string // message of the error for a second run; "" selects a general one
	mu       sync.Mutex
	progress Progress[T]
}

// Start starts work in the background. It returns a Locked error if a run is already
// active.
func (t *Task[T]) Start(actor model.Actor, work func(ctx context.Context, report func(done, total int64)) (T, error)) error {
	if err := t.begin(actor); err != nil {
		return err
	}
	err := t.DB.Tasks.Start(func(ctx context.Context) { t.end(work(ctx, t.report)) })
	if err != nil {
		t.end(*new(T), err)
	}
	return err
}

// Run does work in the calling goroutine. The context of the work ends when ctx ends or the
// vault is closed. Run returns a Locked error if a run is already active.
func (t *Task[T]) Run(ctx context.Context, actor model.Actor,
	work func(ctx context.Context, report func(done, total int64)) (T, error)) (result T, err error) {
	if err := t.begin(actor); err != nil {
		return result, err
	}
	ctx, done, err := t.DB.Tasks.Join(ctx)
	if err != nil {
		t.end(result, err)
		return result, err
	}
	defer done()
	err = errPanicked // unless work returns
	defer func() { t.end(result, err) }()
	result, err = work(ctx, t.report)
	return result, err
}

// errPanicked is the error of a task whose work panicked.
var errPanicked = errors.New("internal error: the task stopped unexpectedly")

func (t *Task[T]) begin(actor model.Actor) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress.Running {
		return &errs.Error{Kind: errs.Locked, Message: cmp.Or(t.Busy, "This task is already running.")}
	}
	t.progress = Progress[T]{Running: true, By: actor, Begun: t.DB.Now()}
	return nil
}

func (t *Task[T]) end(result T, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress.Running, t.progress.Ended, t.progress.Result, t.progress.Err = false, t.DB.Now(), result, err
}

func (t *Task[T]) report(done, total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress.Done, t.progress.Total = done, total
}

// TakeResult returns the result of the last run and forgets it.
func (t *Task[T]) TakeResult() (result T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	result, t.progress.Result = t.progress.Result, result
	return result
}

// Progress returns the state of the current run or, if none is active, of the last one.
func (t *Task[T]) Progress() Progress[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress
}
