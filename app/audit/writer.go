package audit

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// auditWriter writes what is gathered so that no request costs a sync for it: the last
// use of keys, and who looked at which document. All of it goes into one commit,
// at most a second later; a crash loses at most that second.
type auditWriter struct {
	db      *txn.DB
	buffer  *auditBuffer
	pending Pending
	mu      sync.Mutex // whoever flushes finds written what was gathered before
}

const flushInterval = time.Second

// maxEventsPerCommit bounds one commit, for which others wait.
const maxEventsPerCommit = 512

func (g *auditWriter) run(ctx context.Context) {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-g.buffer.wake:
		}
		if err := g.flush(ctx, false); err != nil && !txn.NotWritable(err) && ctx.Err() == nil {
			g.db.Log.Error("last use of keys, and views", "error", err)
		}
	}
}

// flush writes what was gathered; what could not be written is kept for the next.
// The last flush does not wait for those minutes that are not over.
func (g *auditWriter) flush(ctx context.Context, last bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.write(ctx, last)
}

// flushViews is flush where views wait. Uses of keys alone are not worth a sync.
func (g *auditWriter) flushViews(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.buffer.due() {
		return nil
	}
	return g.write(ctx, false)
}

func (g *auditWriter) write(ctx context.Context, last bool) error {
	writeUses, undoUses := g.pending.Drain()
	views := g.buffer.drain(last)
	for writeUses != nil || len(views) > 0 {
		batch := views[:min(len(views), maxEventsPerCommit)]
		var broken error // the audit log cannot be written; the uses are
		err := g.db.Store.Update(ctx, nil, func(t *store.Tx) error {
			if writeUses != nil {
				if err := writeUses(t); err != nil {
					return err
				}
			}
			var head model.Event
			if head, broken = t.LastEvent(); broken == nil {
				return g.buffer.write(t, head.At, batch)
			}
			return nil
		})
		switch {
		case err != nil:
			if writeUses != nil {
				undoUses()
			}
			g.buffer.requeue(views, err)
			return err
		case broken != nil:
			g.buffer.drop(len(batch), broken)
		}
		writeUses, views = nil, views[len(batch):]
	}
	return nil
}

// end writes the rest.
func (g *auditWriter) end() error {
	err := g.flush(context.Background(), true)
	if txn.NotWritable(err) {
		g.db.Log.Warn("last use of keys", "error", err)
		err = nil
	}
	g.buffer.reportLoss(true)
	return err
}
