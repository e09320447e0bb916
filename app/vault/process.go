package vault

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	working map[uint64]string    // the owners of the tasks in hand, by their numbers
	resting map[uint64]time.Time // until when tasks rest whose end could not be written
	stuck   uint64               // tasks that cannot be read, as last told
}

const (
	// processLook is how many tasks are looked at in one turn: a window wide enough
	// that one owner's many, or those that wait for another attempt, hide nobody.
	processLook = 4096
	// processHands is how many tasks are in hand at once. The reader works at fewer;
	// the others wait there, where owners take turns.
	processHands = 8
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
	free := make(chan struct{}, processHands)
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
			p.take(task)
			hands.Go(func() {
				p.v.arrivals.wait(ctx)
				p.give(task, p.work(ctx, task))
				<-free
				p.poke()
			})
		}
		if len(tasks) == 0 && !p.rest(ctx, next) {
			return
		}
	}
}

func (p *processor) take(task title.Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working[task.Seq] = task.Owner
}

// give puts a task out of hand. One that did not end is still in the queue: it
// rests, or it would be due again at once.
func (p *processor) give(task title.Task, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.working, task.Seq)
	delete(p.resting, task.Seq)
	if !ended {
		p.resting[task.Seq] = p.v.now().Add(processRetry)
	}
}

// due reads tasks that are due and in nobody's hands, in the turns of their owners,
// and after which time the next one is; 0 when a poke will say.
func (p *processor) due(ctx context.Context) (tasks []title.Task, next time.Duration, err error) {
	var queued uint64
	var all []title.Task
	err = p.v.store.View(ctx, func(t *store.Tx) (err error) {
		queued = t.Count(store.CountTasks)
		all, err = t.Tasks(processLook)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	now := p.v.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, task := range all {
		at := task.At
		if until, rests := p.resting[task.Seq]; rests && until.After(at) {
			at = until
		}
		wait := at.Sub(now)
		_, working := p.working[task.Seq]
		switch {
		case working:
		case wait <= 0:
			tasks = append(tasks, task)
		case next == 0 || wait < next:
			next = wait
		}
	}
	if len(all) == 0 {
		p.tell(queued)
	}
	return p.inTurns(tasks), next, nil
}

// inTurns gives the first of the tasks when owners take turns, those with the
// fewest in hand first: one owner's hundred documents cost another's one the time
// of one.
func (p *processor) inTurns(tasks []title.Task) []title.Task {
	ahead := map[string]int{}
	for _, owner := range p.working {
		ahead[owner]++
	}
	turn := make(map[uint64]int, len(tasks))
	for _, task := range tasks {
		turn[task.Seq] = ahead[task.Owner]
		ahead[task.Owner]++
	}
	slices.SortStableFunc(tasks, func(a, b title.Task) int { return cmp.Compare(turn[a.Seq], turn[b.Seq]) })
	// A look at many must pay: a sixty-fourth of them is soon done, too.
	return tasks[:min(len(tasks), max(processHands, len(tasks)/64))]
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

// work does one task and writes what came of it. It reports whether the task has
// left the queue, or its place in it.
func (p *processor) work(ctx context.Context, task title.Task) (ended bool) {
	// In the trash too: what comes back out of it must have had its processing.
	file, err := p.file(ctx, task.FileID)
	var failure string
	var text *int
	if err == nil {
		if failure, err = p.v.derive(ctx, file, task.Owner); err == nil {
			text = p.v.textPages(file, failure)
		}
	}
	if ctx.Err() != nil {
		return false // the task stays for the next start
	}
	gone := title.KindOf(err) == title.NotFound || errors.Is(err, store.ErrDamaged)
	if err != nil && !gone {
		p.v.log.Warn("processing of a file", "file", task.FileID, "attempt", task.Attempts+1, "error", err)
		failure = title.Unread
	}
	again := err != nil && !gone && task.Attempts+1 < processAttempts
	err = p.v.store.Update(ctx, nil, func(t *store.Tx) error {
		if again {
			return p.postpone(t, task)
		}
		return p.finish(t, task, failure, text)
	})
	if err != nil && title.KindOf(err) != title.Closing && ctx.Err() == nil {
		p.v.log.Error("end of a file's processing", "file", task.FileID, "error", err)
	}
	if err == nil {
		p.v.counts.processing(again, gone, failure)
	}
	return err == nil
}

func (p *processor) file(ctx context.Context, id uint64) (file title.File, err error) {
	err = p.v.store.View(ctx, func(t *store.Tx) (err error) {
		file, err = t.AnyFile(id)
		return err
	})
	return file, err
}

// postpone puts the task behind all others, due later with each attempt; that of a
// file that was purged meanwhile ends.
func (p *processor) postpone(t *store.Tx, task title.Task) error {
	if err := t.RemoveTask(task.Seq); err != nil {
		return err
	}
	if _, err := t.AnyFile(task.FileID); title.KindOf(err) == title.NotFound {
		return nil
	}
	task.Attempts++
	task.At = p.v.now().Add(processRetry << (task.Attempts - 1))
	return t.AddTask(task)
}

// finish marks a file as processed and takes its task out of the queue, together.
// A file whose record is damaged can not be marked, now or later.
func (p *processor) finish(t *store.Tx, task title.Task, failure string, text *int) error {
	file, err := t.AnyFile(task.FileID)
	switch {
	case title.KindOf(err) == title.NotFound, errors.Is(err, store.ErrDamaged):
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
