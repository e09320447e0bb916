package audit

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// auditWriter writes buffered views and key uses in one commit, at most a second after
// they happened, so that no request waits for an fsync.
type auditWriter struct {
	db      *txn.DB
	buffer  *auditBuffer
	pending Pending
	mu      sync.Mutex // held during a write; a second flush waits for the first
}

// flushInterval is the time between two writes.
const flushInterval = time.Second

// maxEventsPerCommit limits the length of one commit, which delays other writers.
const maxEventsPerCommit = 512

// run writes at each tick, or when the buffer is half full, until ctx ends.
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

// flush writes the buffered entries; after an error they are retried later. With last set
// it also writes the counts of the current minute.
func (g *auditWriter) flush(ctx context.Context, last bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.write(ctx, last)
}

// flushViews writes the buffered entries if views are due. Key uses alone are not worth an
// fsync.
func (g *auditWriter) flushViews(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.buffer.due() {
		return nil
	}
	return g.write(ctx, false)
}

// write writes the key uses and the views, in several commits if there are many.
func (g *auditWriter) write(ctx context.Context, last bool) error {
	writeUses, undoUses := g.pending.Drain()
	views := g.buffer.drain(last)
	for writeUses != nil || len(views) > 0 {
		batch := views[:min(len(views), maxEventsPerCommit)]
		var broken error // the log is damaged; key uses are still written
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

// end writes the remaining entries.
func (g *auditWriter) end() error {
	err := g.flush(context.Background(), true)
	if txn.NotWritable(err) {
		g.db.Log.Warn("last use of keys", "error", err)
		err = nil
	}
	g.buffer.reportLoss(true)
	return err
}
