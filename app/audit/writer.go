package audit

import (
	"context"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// auditWriter writes buffered views and uses of API keys in one commit within about a
// second, so that requests don't have to wait for an fsync.
type auditWriter struct {
	db      *txn.DB
	buffer  *auditBuffer
	pending Pending
	mu      sync.Mutex // held during a write; a second flush waits for the first
}

// flushInterval is the time between two periodic writes.
const flushInterval = time.Second

// maxEventsPerCommit is the maximum number of entries in one commit. A long commit delays
// other writers.
const maxEventsPerCommit = 512

// run writes the buffered entries every flushInterval and whenever the buffer is half full,
// until ctx ends.
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
		if err := w.flush(ctx, false); err != nil && !errs.NotWritable(err) && ctx.Err() == nil {
			w.db.Log.Error("audit log entries and API key last-used times not saved", "error", err)
		}
	}
}

// flush writes the buffered entries. After an error, it keeps them so that they can be
// written later. If last is set, it also writes the counts of the current minute.
func (w *auditWriter) flush(ctx context.Context, last bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(ctx, last)
}

// flushViews writes the buffered entries if any views are due. If only key uses are
// pending, it does nothing, because they aren't worth an fsync.
func (w *auditWriter) flushViews(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.buffer.due() {
		return nil
	}
	return w.write(ctx, false)
}

// write writes the key uses and the views. If there are many, it uses several commits.
func (w *auditWriter) write(ctx context.Context, last bool) error {
	writeUses, undoUses := w.pending.Drain()
	views := w.buffer.drain(last)
	for writeUses != nil || len(views) > 0 {
		batch := views[:min(len(views), maxEventsPerCommit)]
		var damage error // the audit log is damaged; key uses are still written
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

// end writes all remaining entries, including the counts of the current minute.
func (w *auditWriter) end() error {
	err := w.flush(context.Background(), true)
	if errs.NotWritable(err) {
		w.db.Log.Warn("API key last-used times not saved", "error", err)
		err = nil
	}
	w.buffer.reportLoss(true)
	return err
}
