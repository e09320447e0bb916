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

// remaker has the texts made again that the index of words did not find when a document
// went into it: they are in no backup, and may be deleted at any time. It puts those
// documents into the queue of the processing, a few at once, so that new ones need not
// wait behind them; the rest waits in the index (indexer.Lacking), which a crash leaves
// as it is. A document whose text cannot be made leaves the queue with the reason why
// not, and is not tried again.
type TextRebuilder struct {
	*txn.DB
	Index      *search.Indexer
	minChange  uint64 // the change up to which the index must know all, or it asks for the same again
	rebuilding bool   // the log says that texts are being rebuilt
}

const (
	// remakeAtOnce is how many documents are put into the queue at once, maxQueuedTasks how
	// many may wait there then.
	RebuildBatchSize = 64
	maxQueuedTasks   = 32
	// rebuildPollInterval is how soon it looks again while texts are lacking.
	rebuildPollInterval = 250 * time.Millisecond
	// rebuildOwner has his turn in the queue as everybody who uploads has.
	rebuildOwner = "texts"
)

// run goes on until ctx ends: after a poke, until nothing is lacking.
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
			if ctx.Err() == nil && !txn.NotWritable(err) {
				r.Log.Error("texts that are missing are not made", "error", err)
			}
			timer = time.After(retryDelay)
			err = r.updateMinChange(ctx)
		case more:
			timer = time.After(rebuildPollInterval)
		}
	}
}

// updateMinChange has the index know of all there is before it is asked.
func (r *TextRebuilder) updateMinChange(ctx context.Context) error {
	return r.Store.View(ctx, func(t *store.Tx) error { r.minChange = t.LastChange(); return nil })
}

// enqueueBatch puts the next documents into the queue, where that is short; more says that there
// may be others.
func (r *TextRebuilder) enqueueBatch(ctx context.Context) (more bool, err error) {
	var queued uint64
	if err := r.Store.View(ctx, func(t *store.Tx) error { queued = t.Count(store.CountTasks); return nil }); err != nil {
		return false, err
	}
	if queued > maxQueuedTasks {
		return true, nil
	}
	ids := r.Index.Lacking(r.minChange, RebuildBatchSize)
	if err := r.logProgress(ctx, len(ids) > 0); err != nil || len(ids) == 0 {
		return r.rebuilding, err // the next turn of the indexer pokes, and none when all are made
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
	r.Log.Debug("texts are made again", "documents", len(ids), "first", ids[0])
	r.Queued.Notify()
	return true, r.updateMinChange(ctx)
}

// logProgress says in the log, in a line each, that texts are being rebuilt and that they are: not
// for each document, of which there are many after an update.
func (r *TextRebuilder) logProgress(ctx context.Context, some bool) error {
	if r.rebuilding == some {
		return nil
	}
	state, err := r.Index.State(ctx)
	if err != nil || r.rebuilding == (state.Texts > 0) {
		return err
	}
	if r.rebuilding = !r.rebuilding; r.rebuilding {
		r.Log.Info("rebuilding the text of documents that is missing, damaged, or from another version", "documents", state.Texts)
	} else {
		r.Log.Info("the text of documents is rebuilt")
	}
	return nil
}

// enqueue puts a document into the queue, or has the index look at it again.
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
