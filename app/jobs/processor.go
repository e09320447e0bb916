package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/pagetext"
	"deedkeep/app/stats"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Processor generates the text and thumbnails of files after they were uploaded. Its queue
// is in the database and is written together with the file's record, so it survives a
// restart. Every file eventually leaves the queue, either processed or with the reason why
// it couldn't be.
type Processor struct {
	*txn.DB
	previews *Previews

	queue      fairQueue
	outcomes   stats.Counters
	unreadable uint64 // number of damaged tasks when it was last logged
}

// NewProcessor returns a processor that stores its results in p.
func NewProcessor(p *Previews) *Processor {
	return &Processor{DB: p.DB, previews: p, outcomes: stats.NewCounters(Outcomes...),
		queue: fairQueue{running: map[string]int{}}}
}

const (
	// taskBatchSize is the number of tasks read per transaction.
	taskBatchSize = 4096
	// maxRunning is the maximum number of tasks that run at the same time.
	// maxRunningPerOwner is the maximum per owner, so that other owners never have to wait
	// for long tasks. The sandbox runs fewer tasks at a time. The others wait in its queue,
	// which is also fair to owners.
	maxRunning         = 128
	maxRunningPerOwner = 8
	// retryDelay is the pause after a disk error. It is also the delay before the first
	// retry of a file. That delay doubles with each attempt.
	retryDelay = 10 * time.Second
	// maxAttempts is the maximum number of times that a file is processed automatically.
	maxAttempts = 5
)

// Run processes tasks until ctx ends. It then waits for the running ones.
func (p *Processor) Run(ctx context.Context) {
	var workers sync.WaitGroup
	defer workers.Wait()
	for {
		next, err := p.loadTasks(ctx)
		if err != nil && errs.KindOf(err) != errs.Unavailable && ctx.Err() == nil {
			p.Log.Error("document processing tasks not loaded", "error", err)
			next = retryDelay
		}
		for task, ok := p.queue.next(); ok && ctx.Err() == nil; task, ok = p.queue.next() {
			workers.Go(func() {
				p.Activity.WaitIdle(ctx)
				done := p.process(ctx, task.seq)
				p.queue.release(task, done, p.Now().Add(retryDelay))
				p.Queued.Notify()
			})
		}
		if !p.wait(ctx, next) {
			return
		}
	}
}

// loadTasks reads the tasks that were added since the last call. It returns the time until
// the next delayed task is due, or 0 if no tasks are delayed.
func (p *Processor) loadTasks(ctx context.Context) (next time.Duration, err error) {
	idle := p.queue.empty()
	for more := true; more && err == nil; {
		var list []model.ProcessingTask
		var queued uint64
		err = p.Store.View(ctx, func(t *store.Tx) (err error) {
			queued = t.Count(store.CountTasks)
			list, err = t.TasksAfter(p.queue.lastSeq, taskBatchSize)
			return err
		})
		for _, task := range list {
			p.queue.add(task)
		}
		next = p.queue.promoteDue(p.Now())
		if err == nil && idle && len(list) == 0 {
			p.logUnreadable(queued)
		}
		idle, more = false, len(list) == taskBatchSize
	}
	return next, err
}

// logUnreadable logs the number of damaged tasks once, when only these are left. They
// remain in the queue so that a verification can report them.
func (p *Processor) logUnreadable(stuck uint64) {
	if stuck > p.unreadable {
		p.Log.Error("some processing tasks are damaged; run \"deedkeep verify\"", "tasks", stuck)
	}
	p.unreadable = stuck
}

// wait blocks until a task is queued or, if next is not 0, until next has passed. It
// returns false after ctx ends.
func (p *Processor) wait(ctx context.Context, next time.Duration) bool {
	var timer <-chan time.Time
	if next > 0 {
		timer = time.After(next)
	}
	select {
	case <-ctx.Done():
		return false
	case <-p.Queued:
	case <-timer:
	}
	return true
}

// process runs a task and stores the result. done reports whether the task was removed from
// the queue or postponed.
func (p *Processor) process(ctx context.Context, seq uint64) (done bool) {
	// Files in the trash are also processed, because they may be restored.
	task, file, err := p.task(ctx, seq)
	if task.Seq == 0 {
		// Either the task was deleted along with its file or it is damaged. A verification
		// reports damaged tasks. All other errors are temporary.
		return errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged)
	}
	var failure string
	var state *pagetext.State
	if err == nil {
		if failure, err = p.previews.generate(ctx, file, task.Owner); err == nil {
			state = p.previews.textState(file, failure)
		}
	}
	if ctx.Err() != nil {
		return false // the task remains queued until the server starts again
	}
	missing := errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged)
	if err != nil && !missing {
		p.Log.Warn("document processing failed", "file", task.FileID, "attempt", task.Attempts+1, "error", err)
		failure = model.FailureNotOpened
	}
	retry := err != nil && !missing && task.Attempts+1 < maxAttempts
	err = p.Store.Update(ctx, nil, func(t *store.Tx) error {
		if retry {
			return p.postpone(t, task)
		}
		return p.finish(t, task, failure, state)
	})
	if err != nil && errs.KindOf(err) != errs.Unavailable && ctx.Err() == nil {
		p.Log.Error("document processing result not saved", "file", task.FileID, "error", err)
	}
	if err == nil {
		p.count(retry, missing, failure)
		p.previews.wakeOCR()
	}
	return err == nil
}

// task reads a task and its file. If the task can't be read, its Seq is 0.
func (p *Processor) task(ctx context.Context, seq uint64) (task model.ProcessingTask, file model.File, err error) {
	err = p.Store.View(ctx, func(t *store.Tx) (err error) {
		if task, err = t.Task(seq); err != nil {
			task.Seq = 0
			return err
		}
		file, err = t.FileIncludingTrash(task.FileID)
		return err
	})
	return task, file, err
}

// postpone moves a task to the end of the queue with a longer delay. If the file was purged
// in the meantime, it removes the task.
func (p *Processor) postpone(t *store.Tx, task model.ProcessingTask) error {
	if err := t.RemoveTask(task.Seq); err != nil {
		return err
	}
	if _, err := t.FileIncludingTrash(task.FileID); errs.KindOf(err) == errs.NotFound {
		return nil
	}
	task.Attempts++
	task.DueAt = p.Now().Add(retryDelay << (task.Attempts - 1))
	return t.AddTask(task)
}

// finish marks a file as processed and removes its task, in one transaction. If pages need OCR,
// that also queues the file for it, unless they were read for a duplicate. state is nil if it isn't known which pages do. If the file's
// record is damaged, finish only removes the task.
func (p *Processor) finish(t *store.Tx, task model.ProcessingTask, failure string, state *pagetext.State) error {
	file, err := t.FileIncludingTrash(task.FileID)
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
	case err != nil:
		return err
	default:
		file.Processing, file.Failure = false, failure
		if file.OCR = nil; state != nil {
			read := state.OCR()
			file.TextPages, file.OCR = &state.TextPages, &read
		}
		if err := t.PutFile(file); err != nil {
			return err
		}
		if state != nil {
			if err := p.previews.addTextRead(t, file.ID, *state); err != nil {
				return err
			}
		}
	}
	return t.RemoveTask(task.Seq)
}

// Outcomes are the label values of the processing counter. They mean that the document was
// processed, can't be processed, will be retried, or was deleted during processing.
var Outcomes = []string{outcomeDone, outcomeFailed, outcomePostponed, outcomeGone}

const (
	outcomeDone      = "done"
	outcomeFailed    = "failed"
	outcomePostponed = "postponed"
	outcomeGone      = "deleted"
)

// OutcomeCounts returns the number of processing runs for each of the Outcomes.
func (p *Processor) OutcomeCounts() map[string]uint64 { return p.outcomes.Read() }

func (p *Processor) count(postponed, missing bool, failure string) {
	switch {
	case postponed:
		p.outcomes.Add(outcomePostponed)
	case missing:
		p.outcomes.Add(outcomeGone)
	case failure != "":
		p.outcomes.Add(outcomeFailed)
	default:
		p.outcomes.Add(outcomeDone)
	}
}
