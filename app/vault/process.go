package vault

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// processor takes files through their processing after the upload. Its queue is in
// the database, written with the file's own record, so that it survives a restart
// and a file never stays in processing for ever.
type processor struct {
	v     *Vault
	wake  chan struct{}
	stuck uint64 // tasks that cannot be read, as last told
}

const (
	processAtOnce = 256
	// processPause lets uploads that come close together share one commit.
	processPause = 50 * time.Millisecond
	// processRetry is how long the queue rests after an error of the disk.
	processRetry = 10 * time.Second
)

func (p *processor) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *processor) run(ctx context.Context) {
	for {
		more, err := p.round(ctx)
		wait := time.Duration(-1)
		switch {
		case ctx.Err() != nil:
			return
		case title.KindOf(err) == title.Closing:
			// Read-only until a restart, and then the queue is still there.
		case err != nil:
			p.v.log.Error("processing", "error", err)
			wait = processRetry
		case more:
			wait = 0
		}
		if !p.rest(ctx, wait) {
			return
		}
	}
}

// rest waits for the given time, or for a poke when it is negative.
func (p *processor) rest(ctx context.Context, wait time.Duration) bool {
	if wait < 0 {
		select {
		case <-ctx.Done():
			return false
		case <-p.wake:
			wait = processPause
		}
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// round ends the processing of at most processAtOnce files in one commit.
func (p *processor) round(ctx context.Context) (more bool, err error) {
	var tasks []title.Task
	var queued uint64
	err = p.v.store.View(ctx, func(t *store.Tx) (err error) {
		queued = t.Count(store.CountTasks)
		tasks, err = t.Tasks(processAtOnce)
		return err
	})
	if err != nil {
		return false, err
	}
	if len(tasks) == 0 {
		p.tell(queued)
		return false, nil
	}
	err = p.v.store.Update(ctx, nil, func(t *store.Tx) error {
		for _, task := range tasks {
			if err := p.finish(t, task); err != nil {
				return err
			}
		}
		return nil
	})
	return len(tasks) == processAtOnce, err
}

// tell says once how many damaged tasks are left when nothing else is. They stay
// as they are, for a verification to name.
func (p *processor) tell(stuck uint64) {
	if stuck > p.stuck {
		p.v.log.Error("tasks of the processing cannot be read; verify names them", "tasks", stuck)
	}
	p.stuck = stuck
}

// finish marks a file as processed and takes its task out of the queue, together.
// A file whose record is damaged can not be marked, now or later: it must not keep
// the others of the round waiting.
func (p *processor) finish(t *store.Tx, task title.Task) error {
	file, err := t.File(task.FileID)
	switch {
	case title.KindOf(err) == title.NotFound, errors.Is(err, store.ErrDamaged):
	case err != nil:
		return err
	case file.Processing:
		file.Processing = false
		if err := t.PutFile(file); err != nil {
			return err
		}
	}
	return t.RemoveTask(task.Seq)
}
