package jobs

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// TextRebuilder extracts text again that was missing when the search indexer needed it.
// Extracted text, unlike OCR results, is not part of backups and may be deleted at any time.
// The rebuilder queues only a few of these documents at a time, so that new uploads don't
// have to wait for them. The others remain in the indexer's list (Indexer.MissingText), which
// survives a crash. If the text of a document can't be extracted, the document leaves the
// queue with the reason and is not retried.
type TextRebuilder struct {
	*txn.DB
	Index      *search.Indexer
	minChange  uint64 // the search index must have processed this change, or it would list the same documents again
	rebuilding bool   // the start of a rebuild was logged, but not its end
}

const (
	// RebuildBatchSize is the number of documents queued at a time. More are queued when no
	// more than maxQueuedTasks tasks are left in the queue.
	RebuildBatchSize = 64
	maxQueuedTasks   = 32
	// rebuildPollInterval is how often the rebuilder checks the queue while text is
	// missing.
	rebuildPollInterval = 250 * time.Millisecond
	// rebuildOwner is the owner of the rebuilder's tasks. It shares the queue like any
	// user.
	rebuildOwner = "texts"
)

// Run rebuilds missing text until ctx ends. It wakes up when the indexer reports missing
// text.
func (r *TextRebuilder) Run(ctx context.Context) {
	var timer <-chan time.Time
	err := r.updateMinChange(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.MissingText:
		case <-timer:
		}
		var more bool
		if err == nil {
			more, err = r.enqueueBatch(ctx)
		}
		timer = nil
		switch {
		case err != nil:
			if ctx.Err() == nil && !errs.NotWritable(err) {
				r.Log.Error("missing document text not extracted", "error", err)
			}
			timer = time.After(retryDelay)
			err = r.updateMinChange(ctx)
		case more:
			timer = time.After(rebuildPollInterval)
		}
	}
}

// updateMinChange makes the next query wait until the search index has processed the newest
// change.
func (r *TextRebuilder) updateMinChange(ctx context.Context) error {
	return r.Store.View(ctx, func(t *store.Tx) error { r.minChange = t.LastChange(); return nil })
}

// enqueueBatch queues the next documents if the queue is short. more reports whether there
// may be further documents.
func (r *TextRebuilder) enqueueBatch(ctx context.Context) (more bool, err error) {
	var queued uint64
	if err := r.Store.View(ctx, func(t *store.Tx) error { queued = t.Count(store.CountTasks); return nil }); err != nil {
		return false, err
	}
	if queued > maxQueuedTasks {
		return true, nil
	}
	ids := r.Index.MissingText(r.minChange, RebuildBatchSize)
	if err := r.logProgress(ctx, len(ids) > 0); err != nil || len(ids) == 0 {
		return r.rebuilding, err // the indexer sends a signal if it finds more missing text
	}
	if err := r.CheckSpace(); err != nil {
		return true, err
	}
	err = r.Store.Update(ctx, nil, func(t *store.Tx) error {
		for _, id := range ids {
			if err := r.enqueue(t, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return true, err
	}
	r.Log.Debug("extracting document text again", "documents", len(ids), "first", ids[0])
	r.Queued.Notify()
	return true, r.updateMinChange(ctx)
}

// logProgress logs one line when a rebuild starts and one when it ends. Logging a line for
// each document would flood the log after an update.
func (r *TextRebuilder) logProgress(ctx context.Context, missing bool) error {
	if r.rebuilding == missing {
		return nil
	}
	state, err := r.Index.State(ctx)
	if err != nil || r.rebuilding == (state.MissingText > 0) {
		return err
	}
	if r.rebuilding = !r.rebuilding; r.rebuilding {
		r.Log.Info("rebuilding document text that is missing, damaged, or from another version of deedkeep", "documents", state.MissingText)
	} else {
		r.Log.Info("document text rebuilt")
	}
	return nil
}

// enqueue queues a document for processing. If its text can't be rebuilt or the document is
// already queued, enqueue marks it as changed instead.
func (r *TextRebuilder) enqueue(t *store.Tx, id uint64) error {
	file, err := t.File(id)
	switch {
	case errs.KindOf(err) == errs.NotFound, errors.Is(err, store.ErrDamaged):
		t.MarkFileChanged(id)
		return nil
	case err != nil:
		return err
	case file.Processing, file.MissingText():
		t.MarkFileChanged(id)
		return nil
	}
	file.Processing, file.Failure = true, ""
	return errors.Join(t.PutFile(file), t.AddTask(model.ProcessingTask{FileID: id, Owner: rebuildOwner, DueAt: r.Now()}))
}
