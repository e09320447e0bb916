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

	turns    turns
	outcomes stats.Counters
	stuck    uint64 // tasks that cannot be read, as last told
}

func NewProcessor(p *Previews) *Processor {
	return &Processor{DB: p.DB, previews: p, outcomes: stats.NewCounters(Outcomes...),
		turns: turns{lines: map[string][]uint64{}, hands: map[string]int{}}}
}

const (
	// processLook is how many tasks are read at once.
	processLook = 4096
	// processHands is how many tasks are in hand at once, and processShare how many of
	// them one owner has at most: other owners find a hand free however long these take.
	// The reader works at fewer; the others wait there, where owners take turns again.
	processHands = 128
	processShare = 8
	// processRetry is how long the queue rests after an error of the disk, and a
	// file after an error that may pass; the latter grows with each attempt.
	processRetry = 10 * time.Second
	// processAttempts bounds what is tried again by itself.
	processAttempts = 5
)

// run hands the tasks out until ctx ends, and waits for those in hand.
func (p *Processor) Run(ctx context.Context) {
	var hands sync.WaitGroup
	defer hands.Wait()
	for {
		next, err := p.look(ctx)
		if err != nil && errs.KindOf(err) != errs.Unavailable && ctx.Err() == nil {
			p.Log.Error("processing", "error", err)
			next = processRetry
		}
		for one, ok := p.turns.take(); ok && ctx.Err() == nil; one, ok = p.turns.take() {
			hands.Go(func() {
				p.Activity.WaitIdle(ctx)
				ended := p.work(ctx, one.seq)
				p.turns.give(one, ended, p.Now().Add(processRetry))
				p.Queued.Notify()
			})
		}
		if !p.rest(ctx, next) {
			return
		}
	}
}

// look reads the tasks that have come since the last look, and gives after which time
// one that has come before is due; 0 when a poke will say.
func (p *Processor) look(ctx context.Context) (next time.Duration, err error) {
	idle := p.turns.idle()
	for more := true; more && err == nil; {
		var list []model.ProcessingTask
		var queued uint64
		err = p.Store.View(ctx, func(t *store.Tx) (err error) {
			queued = t.Count(store.CountTasks)
			list, err = t.TasksAfter(p.turns.seen, processLook)
			return err
		})
		for _, task := range list {
			p.turns.add(task)
		}
		next = p.turns.due(p.Now())
		if err == nil && idle && len(list) == 0 {
			p.tell(queued)
		}
		idle, more = false, len(list) == processLook
	}
	return next, err
}

// tell says once how many damaged tasks are left when nothing else is. They stay
// as they are, for a verification to name.
func (p *Processor) tell(stuck uint64) {
	if stuck > p.stuck {
		p.Log.Error("tasks of the processing cannot be read; verify names them", "tasks", stuck)
	}
	p.stuck = stuck
}

// rest waits for a poke, and no longer than the given time where there is one.
func (p *Processor) rest(ctx context.Context, next time.Duration) bool {
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

// work does one task and writes what came of it. It reports whether the task has
// left the queue, or its place in it.
func (p *Processor) work(ctx context.Context, seq uint64) (ended bool) {
	// In the trash too: what comes back out of it must have had its processing.
	task, file, err := p.task(ctx, seq)
	if task.Seq == 0 {
		// Its file has gone with it, or a verification names it. Other errors pass.
		return errs.KindOf(err) == errs.NotFound || errors.Is(err, store.ErrDamaged)
	}
	var failure string
	var text *int
	if err == nil {
		if failure, err = p.previews.derive(ctx, file, task.Owner); err == nil {
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
	again := err != nil && !gone && task.Attempts+1 < processAttempts
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
	task.DueAt = p.Now().Add(processRetry << (task.Attempts - 1))
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
