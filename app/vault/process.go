package vault

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// processor takes files through their processing after the upload: their text and
// a thumbnail. Its queue is in the database, written with the file's own record, so
// that it survives a restart, and every file leaves it in the end: processed, or
// with the reason why not.
type processor struct {
	v    *Vault
	wake chan struct{}

	mu      sync.Mutex
	working map[uint64]bool // tasks in hand, by number
	stuck   uint64          // tasks that cannot be read, as last told
}

const (
	processAtOnce = 256 // tasks looked at in one turn
	// processRetry is how long the queue rests after an error of the disk, and a
	// file after an error that may pass; the latter grows with each attempt.
	processRetry = 10 * time.Second
	// processAttempts bounds what is tried again by itself.
	processAttempts = 5
)

func (p *processor) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run hands the tasks out until ctx ends, and waits for those in hand.
func (p *processor) run(ctx context.Context) {
	var hands sync.WaitGroup
	defer hands.Wait()
	free := make(chan struct{}, runtime.NumCPU())
	for {
		tasks, next, err := p.due(ctx)
		if err != nil && title.KindOf(err) != title.Closing && ctx.Err() == nil {
			p.v.log.Error("processing", "error", err)
			next = processRetry
		}
		for _, task := range tasks {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return
			}
			p.take(task.Seq)
			hands.Go(func() {
				p.v.arrivals.wait(ctx)
				p.work(ctx, task)
				p.give(task.Seq)
				<-free
				p.poke()
			})
		}
		if len(tasks) == 0 && !p.rest(ctx, next) {
			return
		}
	}
}

func (p *processor) take(seq uint64) { p.mu.Lock(); p.working[seq] = true; p.mu.Unlock() }
func (p *processor) give(seq uint64) { p.mu.Lock(); delete(p.working, seq); p.mu.Unlock() }

// due reads the tasks that are due and in nobody's hands, and after which time the
// next one is; 0 when a poke will say.
func (p *processor) due(ctx context.Context) (tasks []title.Task, next time.Duration, err error) {
	var queued uint64
	var all []title.Task
	err = p.v.store.View(ctx, func(t *store.Tx) (err error) {
		queued = t.Count(store.CountTasks)
		all, err = t.Tasks(processAtOnce)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	now := p.v.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, task := range all {
		wait := task.At.Sub(now)
		switch {
		case p.working[task.Seq]:
		case wait <= 0:
			tasks = append(tasks, task)
		case next == 0 || wait < next:
			next = wait
		}
	}
	if len(all) == 0 {
		p.tell(queued)
	}
	return tasks, next, nil
}

// tell says once how many damaged tasks are left when nothing else is. They stay
// as they are, for a verification to name.
func (p *processor) tell(stuck uint64) {
	if stuck > p.stuck {
		p.v.log.Error("tasks of the processing cannot be read; verify names them", "tasks", stuck)
	}
	p.stuck = stuck
}

// rest waits for a poke, and no longer than the given time where there is one.
func (p *processor) rest(ctx context.Context, next time.Duration) bool {
	var timer <-chan time.Time
	if next > 0 {
		timer = time.After(next)
	}
	select {
	case <-ctx.Done():
		return false
	case <-p.wake:
	case <-timer:
	}
	return true
}

// work does one task and writes what came of it.
func (p *processor) work(ctx context.Context, task title.Task) {
	file, err := p.v.Files.Get(ctx, task.FileID)
	var failure string
	if err == nil {
		failure, err = p.v.derive(ctx, file, task.Owner)
	}
	if ctx.Err() != nil {
		return // the task stays for the next start
	}
	gone := title.KindOf(err) == title.NotFound || errors.Is(err, store.ErrDamaged)
	if err != nil && !gone {
		p.v.log.Warn("processing of a file", "file", task.FileID, "attempt", task.Attempts+1, "error", err)
		failure = "It could not be opened here; it can be tried again."
	}
	again := err != nil && !gone && task.Attempts+1 < processAttempts
	err = p.v.store.Update(ctx, nil, func(t *store.Tx) error {
		if again {
			return p.postpone(t, task)
		}
		return p.finish(t, task, failure)
	})
	if err != nil && title.KindOf(err) != title.Closing && ctx.Err() == nil {
		p.v.log.Error("end of a file's processing", "file", task.FileID, "error", err)
	}
}

// postpone puts the task behind all others, due later with each attempt.
func (p *processor) postpone(t *store.Tx, task title.Task) error {
	if err := t.RemoveTask(task.Seq); err != nil {
		return err
	}
	task.Attempts++
	task.At = p.v.now().Add(processRetry << (task.Attempts - 1))
	return t.AddTask(task)
}

// finish marks a file as processed and takes its task out of the queue, together.
// A file whose record is damaged can not be marked, now or later.
func (p *processor) finish(t *store.Tx, task title.Task, failure string) error {
	file, err := t.File(task.FileID)
	switch {
	case title.KindOf(err) == title.NotFound, errors.Is(err, store.ErrDamaged):
	case err != nil:
		return err
	default:
		file.Processing, file.Failure = false, failure
		if err := t.PutFile(file); err != nil {
			return err
		}
	}
	return t.RemoveTask(task.Seq)
}

// Failed gives at most limit files whose processing failed, from number from on.
func (f *Files) Failed(ctx context.Context, from uint64, limit int) (list []title.File, err error) {
	err = f.v.store.View(ctx, func(t *store.Tx) (err error) {
		list, err = t.Failed(from, limit)
		return err
	})
	return list, err
}

// Retry puts files whose processing failed into the queue again: one, or all when
// id is 0. It tells how many; NotFound when there is no such file, Conflict when
// its processing did not fail.
func (f *Files) Retry(ctx context.Context, actor title.Actor, id uint64) (count int, err error) {
	defer f.v.processor.poke()
	for from := max(id, 1); ; {
		var done int
		err := f.v.store.Update(ctx, func(t *store.Tx) error { return retryable(t, id) }, func(t *store.Tx) (err error) {
			done, from, err = f.retry(t, actor, id, from)
			return err
		})
		count += done
		if err != nil || id != 0 || done == 0 {
			return count, err
		}
	}
}

func retryable(t *store.Tx, id uint64) error {
	if id == 0 {
		return nil
	}
	file, err := t.File(id)
	if err == nil && file.Failure == "" {
		return &title.Error{Kind: title.Conflict, Message: "The processing of this file did not fail."}
	}
	return err
}

func (f *Files) retry(t *store.Tx, actor title.Actor, id, from uint64) (done int, next uint64, err error) {
	limit := processAtOnce
	if id != 0 {
		limit = 1
	}
	list, err := t.Failed(from, limit)
	if err != nil {
		return 0, from, err
	}
	at := f.v.now()
	for _, file := range list {
		file.Processing, file.Failure = true, ""
		err := errors.Join(t.PutFile(file), t.AddTask(title.Task{FileID: file.ID, Owner: actor.Record(), At: at}),
			f.v.event(t, at, actor, "file.retried", record("file", file.ID), nil))
		if err != nil {
			return 0, from, err
		}
		from = file.ID + 1
	}
	return len(list), from, nil
}
