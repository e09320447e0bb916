package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/stats"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// processor takes files through their processing after the upload: their text and
// a thumbnail. Its queue is in the database, written with the file's own record, so
// that it survives a restart, and every file leaves it in the end: processed, or
// with the reason why not.
type Processor struct {
	*txn.DB
	previews *Previews

	queue      fairQueue
	outcomes   stats.Counters
	unreadable uint64 // tasks that cannot be read, as last told
}

func NewProcessor(p *Previews) *Processor {
	return &Processor{DB: p.DB, previews: p, outcomes: stats.NewCounters(Outcomes...),
		queue: fairQueue{ready: map[string][]uint64{}, running: map[string]int{}}}
}

const (
	// taskBatchSize is how many tasks are read at once.
	taskBatchSize = 4096
	// maxRunning is how many tasks are in hand at once, and maxRunningPerOwner how many of
	// them one owner has at most: other owners find a hand free however long these take.
	// The reader works at fewer; the others wait there, where owners take turns again.
	maxRunning         = 128
	maxRunningPerOwner = 8
	// retryDelay is how long the queue rests after an error of the disk, and a
	// file after an error that may pass; the latter grows with each attempt.
	retryDelay = 10 * time.Second
	// maxAttempts bounds what is tried again by itself.
	maxAttempts = 5
)

// run hands the tasks out until ctx ends, and waits for those in hand.
func (p *Processor) Run(ctx context.Context) {
	var hands sync.WaitGroup
	defer hands.Wait()
	for {
		next, err := p.loadTasks(ctx)
		if err != nil && errs.KindOf(err) != errs.Unavailable && ctx.Err() == nil {
			p.Log.Error("processing", "error", err)
			next = retryDelay
		}
		for one, ok := p.queue.next(); ok && ctx.Err() == nil; one, ok = p.queue.next() {
			hands.Go(func() {
				p.Activity.WaitIdle(ctx)
				ended := p.process(ctx, one.seq)
				p.queue.release(one, ended, p.Now().Add(retryDelay))
				p.Queued.Notify()
			})
		}
		if !p.wait(ctx, next) {
			return
		}
	}
}

// loadTasks reads the tasks that have come since the last look, and gives after which time
// one that has come before is due; 0 when a poke will say.
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

// logUnreadable says once how many damaged tasks are left when nothing else is. They stay
// as they are, for a verification to name.
func (p *Processor) logUnreadable(stuck uint64) {
	if stuck > p.unreadable {
		p.Log.Error("tasks of the processing cannot be read; verify names them", "tasks", stuck)
	}
	p.unreadable = stuck
}

// wait waits for a poke, and no longer than the given time where there is one.
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

// process does one task and writes what came of it. It reports whether the task has
// left the queue, or its place in it.
func (p *Processor) process(ctx context.Context, seq uint64) (ended bool) {
	// In the trash too: what comes back out of it must have had its processing.
	task, file, err := p.task(ctx, seq)
	if task.Seq == 0 {
		// Its file has gone with it, or a verification names it. Other errors pass.
		return errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged)
	}
	var failure string
	var text *int
	if err == nil {
		if failure, err = p.previews.generate(ctx, file, task.Owner); err == nil {
			text = p.previews.textPages(file, failure)
		}
	}
	if ctx.Err() != nil {
		return false // the task stays for the next start
	}
	gone := errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged)
	if err != nil && !gone {
		p.Log.Warn("processing of a file", "file", task.FileID, "attempt", task.Attempts+1, "error", err)
		failure = model.FailureNotOpened
	}
	again := err != nil && !gone && task.Attempts+1 < maxAttempts
	err = p.Store.Update(ctx, nil, func(t *store.Tx) error {
		if again {
			return p.postpone(t, task)
		}
		return p.finish(t, task, failure, text)
	})
	if err != nil && errs.KindOf(err) != errs.Unavailable && ctx.Err() == nil {
		p.Log.Error("end of a file's processing", "file", task.FileID, "error", err)
	}
	if err == nil {
		p.count(again, gone, failure)
	}
	return err == nil
}

// task reads a task, whose number is 0 when it can't be read, and its file.
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

// postpone puts the task behind all others, due later with each attempt; that of a
// file that was purged meanwhile ends.
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

// finish marks a file as processed and takes its task out of the queue, together.
// A file whose record is damaged can not be marked, now or later.
func (p *Processor) finish(t *store.Tx, task model.ProcessingTask, failure string, text *int) error {
	file, err := t.FileIncludingTrash(task.FileID)
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
	case err != nil:
		return err
	default:
		file.Processing, file.Failure = false, failure
		if text != nil {
			file.TextPages = text
		}
		if err := t.PutFile(file); err != nil {
			return err
		}
	}
	return t.RemoveTask(task.Seq)
}
