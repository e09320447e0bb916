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
type Remaker struct {
	*txn.DB
	Index *search.Indexer
	after uint64 // the change up to which the index must know all, or it asks for the same again
	told  bool   // the log says that texts are being rebuilt
}

const (
	// remakeAtOnce is how many documents are put into the queue at once, remakeBelow how
	// many may wait there then.
	RemakeAtOnce = 64
	remakeBelow  = 32
	// remakeLook is how soon it looks again while texts are lacking.
	remakeLook = 250 * time.Millisecond
	// remakeOwner has his turn in the queue as everybody who uploads has.
	remakeOwner = "texts"
)

// run goes on until ctx ends: after a poke, until nothing is lacking.
func (r *Remaker) Run(ctx context.Context) {
	var timer <-chan time.Time
	err := r.note(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.MissingText:
		case <-timer:
		}
		var more bool
		if err == nil {
			more, err = r.feed(ctx)
		}
		timer = nil
		switch {
		case err != nil:
			if ctx.Err() == nil && !txn.NotWritable(err) {
				r.Log.Error("texts that are missing are not made", "error", err)
			}
			timer = time.After(processRetry)
			err = r.note(ctx)
		case more:
			timer = time.After(remakeLook)
		}
	}
}

// note has the index know of all there is before it is asked.
func (r *Remaker) note(ctx context.Context) error {
	return r.Store.View(ctx, func(t *store.Tx) error { r.after = t.LastChange(); return nil })
}

// feed puts the next documents into the queue, where that is short; more says that there
// may be others.
func (r *Remaker) feed(ctx context.Context) (more bool, err error) {
	var queued uint64
	if err := r.Store.View(ctx, func(t *store.Tx) error { queued = t.Count(store.CountTasks); return nil }); err != nil {
		return false, err
	}
	if queued > remakeBelow {
		return true, nil
	}
	ids := r.Index.Lacking(r.after, RemakeAtOnce)
	if err := r.tell(ctx, len(ids) > 0); err != nil || len(ids) == 0 {
		return r.told, err // the next turn of the indexer pokes, and none when all are made
	}
	if err := r.CheckSpace(); err != nil {
		return true, err
	}
	err = r.Store.Update(ctx, nil, func(t *store.Tx) error {
		for _, id := range ids {
			if err := r.queue(t, id); err != nil {
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
	return true, r.note(ctx)
}

// tell says in the log, in a line each, that texts are being rebuilt and that they are: not
// for each document, of which there are many after an update.
func (r *Remaker) tell(ctx context.Context, some bool) error {
	if r.told == some {
		return nil
	}
	state, err := r.Index.State(ctx)
	if err != nil || r.told == (state.Texts > 0) {
		return err
	}
	if r.told = !r.told; r.told {
		r.Log.Info("rebuilding the text of documents that is missing, damaged, or from another version", "documents", state.Texts)
	} else {
		r.Log.Info("the text of documents is rebuilt")
	}
	return nil
}

// queue puts a document into the queue, or has the index look at it again.
func (r *Remaker) queue(t *store.Tx, id uint64) error {
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
	return errors.Join(t.PutFile(file), t.AddTask(model.ProcessingTask{FileID: id, Owner: remakeOwner, DueAt: r.Now()}))
}
