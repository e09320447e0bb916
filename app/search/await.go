package search

import (
	"context"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

// Await waits until the index is whole, but for State.Texts, knows of all changes there
// were when it was called, not of those that come meanwhile, and is made anew where
// somebody asked for that. It calls report now and then. Where nobody runs the indexer it
// does the work itself; what is cut off by ctx goes on from there the next time. Full
// when the new one was given up for want of room, until Renew asks for another; Closing,
// with why, when nothing goes on for now.
func (x *Indexer) Await(ctx context.Context, report func(done, total uint64)) (s State, err error) {
	var asked uint64 // all changes up to this one are waited for, not those that come meanwhile
	err = x.store.View(ctx, func(t *store.Tx) error { asked = t.LastChange(); return nil })
	if err != nil {
		return s, err
	}
	for {
		var ended chan struct{}
		var serving bool
		var gaveUp error
		x.withLock(func() { ended, serving = x.passEnded, x.running })
		if !serving {
			if _, err = x.runPass(ctx); err != nil {
				return s, err
			}
		}
		if s, err = x.State(ctx); err != nil {
			return s, err
		}
		report(s.Done, s.Total)
		x.withLock(func() { gaveUp = x.abandonErr })
		switch {
		case gaveUp != nil:
			return s, gaveUp
		case s.Failure != "":
			return s, &errs.Error{Kind: errs.Unavailable, Message: "The search index does not get on: " + s.Failure}
		case s.Ready && !s.Building && x.includes(asked), s.Ready && x.onlyTextMissing(asked):
			return s, nil // texts may take long
		case !serving:
			continue
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-ended:
		case <-time.After(time.Second):
		}
	}
}

// includes reports that all changes up to one are in the index that answers.
func (x *Indexer) includes(change uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.live != nil && x.live.change.Load() >= change
}
