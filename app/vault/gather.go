package vault

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// gatherer writes what is gathered so that no request costs a sync for it: the last
// use of keys, and who looked at which document. All of it goes into one commit,
// at most a second later; a crash loses at most that second.
type gatherer struct {
	v        *Vault
	flushing sync.Mutex // whoever flushes finds written what was gathered before
}

const gatherEvery = time.Second

// notesAtOnce bounds one commit, for which others wait.
const notesAtOnce = 512

func (g *gatherer) run(ctx context.Context) {
	tick := time.NewTicker(gatherEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-g.v.notes.wake:
		}
		if err := g.flush(ctx, false); err != nil && !takesNoWrites(err) && ctx.Err() == nil {
			g.v.log.Error("last use of keys, and views", "error", err)
		}
	}
}

// goesOn logs what came of a turn of background work, and is false when there will be
// no other: the vault is read-only until a restart. That it takes no writes now is no
// news: the kind of an error does not say for how long.
func (v *Vault) goesOn(ctx context.Context, what string, err error) bool {
	if err != nil && !takesNoWrites(err) && ctx.Err() == nil {
		v.log.Error(what, "error", err)
	}
	return v.store.Failure() == nil
}

// takesNoWrites is the error of a vault that is full or read-only, for now or until a
// restart: what is gathered is then all that is lost.
func takesNoWrites(err error) bool {
	kind := errs.KindOf(err)
	return kind == errs.Unavailable || kind == errs.InsufficientStorage
}

// flush writes what was gathered; what could not be written is kept for the next.
// The last flush does not wait for those minutes that are not over.
func (g *gatherer) flush(ctx context.Context, last bool) error {
	g.flushing.Lock()
	defer g.flushing.Unlock()
	return g.write(ctx, last)
}

// flushViews is flush where views wait. Uses of keys alone are not worth a sync.
func (g *gatherer) flushViews(ctx context.Context) error {
	g.flushing.Lock()
	defer g.flushing.Unlock()
	if !g.v.notes.due() {
		return nil
	}
	return g.write(ctx, false)
}

func (g *gatherer) write(ctx context.Context, last bool) error {
	seen, views := g.v.usage.take(), g.v.notes.take(last)
	for len(seen) > 0 || len(views) > 0 {
		batch := views[:min(len(views), notesAtOnce)]
		var broken error // of the log; the uses go on
		err := g.v.store.Update(ctx, nil, func(t *store.Tx) error {
			if err := g.v.usage.write(t, seen); err != nil {
				return err
			}
			var head model.Event
			if head, broken = t.LastEvent(); broken == nil {
				return g.v.notes.write(t, head.At, batch)
			}
			return nil
		})
		switch {
		case err != nil:
			g.v.usage.giveBack(seen)
			g.v.notes.giveBack(views, err)
			return err
		case broken != nil:
			g.v.notes.lose(len(batch), broken)
		}
		seen, views = nil, views[len(batch):]
	}
	return nil
}

// end writes the rest.
func (g *gatherer) end() error {
	err := g.flush(context.Background(), true)
	if takesNoWrites(err) {
		g.v.log.Warn("last use of keys", "error", err)
		err = nil
	}
	g.v.notes.tell(true)
	return err
}
