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
func (w *auditWriter) run(ctx context.Context) {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.buffer.wake:
		}
		if err := w.flush(ctx, false); err != nil && !txn.NotWritable(err) && ctx.Err() == nil {
			w.db.Log.Error("last use of keys, and views", "error", err)
		}
	}
}

// flush writes the buffered entries; after an error they are retried later. With last set
// it also writes the counts of the current minute.
func (w *auditWriter) flush(ctx context.Context, last bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(ctx, last)
}

// flushViews writes the buffered entries if views are due. Key uses alone are not worth an
// fsync.
func (w *auditWriter) flushViews(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.buffer.due() {
		return nil
	}
	return w.write(ctx, false)
}

// write writes the key uses and the views, in several commits if there are many.
func (w *auditWriter) write(ctx context.Context, last bool) error {
	writeUses, undoUses := w.pending.Drain()
	views := w.buffer.drain(last)
	for writeUses != nil || len(views) > 0 {
		batch := views[:min(len(views), maxEventsPerCommit)]
		var damage error // the log is damaged; key uses are still written
		err := w.db.Store.Update(ctx, nil, func(t *store.Tx) error {
			if writeUses != nil {
				if err := writeUses(t); err != nil {
					return err
				}
			}
			var head model.Event
			if head, damage = t.LastEvent(); damage == nil {
				return w.buffer.write(t, head.At, batch)
			}
			return nil
		})
		switch {
		case err != nil:
			if writeUses != nil {
				undoUses()
			}
			w.buffer.requeue(views, err)
			return err
		case damage != nil:
			w.buffer.drop(len(batch), damage)
		}
		writeUses, views = nil, views[len(batch):]
	}
	return nil
}

// end writes the remaining entries.
func (w *auditWriter) end() error {
	err := w.flush(context.Background(), true)
	if txn.NotWritable(err) {
		w.db.Log.Warn("last use of keys", "error", err)
		err = nil
	}
	w.buffer.reportLoss(true)
	return err
}
