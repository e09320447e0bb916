package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

const (
	// gatherDelay is how long changes are collected into one batch. Each batch writes and syncs a
	// segment, so a steady stream of commits shares a few of them. Together with maxYield and the time
	// to apply a batch, it stays under a second.
	gatherDelay = 400 * time.Millisecond
	// maxYield is the maximum time that a batch waits while documents are being uploaded.
	maxYield = 400 * time.Millisecond
	// pollInterval is how often the indexer checks that its folder still exists while there are no
	// changes.
	pollInterval = 3 * time.Second
	// minRetryDelay is the delay after the first error. It doubles with each further error, up to
	// maxRetryDelay.
	minRetryDelay = 5 * time.Second
	maxRetryDelay = 10 * time.Minute
)

// Run keeps the index up to date until ctx is done.
func (x *Indexer) Run(ctx context.Context) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		requests := x.rebuildRequests()
		more, err := x.runPass(ctx)
		if err == nil {
			pause = 0
		} else {
			pause = min(max(2*pause, minRetryDelay), maxRetryDelay)
		}
		if errors.Is(err, errNotFolder) || errs.KindOf(err) == errs.InsufficientStorage {
			pause = pollInterval // trying again is cheap
		}
		x.endPass(ctx, err, requests)
		x.notifyMissingText()
		switch {
		case err != nil:
			x.wait(ctx, pause, nil)
		case !more && x.wait(ctx, pollInterval, x.options.Store.Changed()):
			x.wait(ctx, gatherDelay, nil)
		}
	}
}

// wait returns when Wake is called, change receives a value or is closed, pause has passed, or ctx is done.
// It reports whether change was the reason.
func (x *Indexer) wait(ctx context.Context, pause time.Duration, change <-chan struct{}) (changed bool) {
	select {
	case <-ctx.Done():
	case <-x.wake:
	case <-change:
		return true
	case <-time.After(pause):
	}
	return false
}

// rebuildRequests returns how many times Rebuild has been called.
func (x *Indexer) rebuildRequests() (n int) {
	x.withLock(func() { n = x.rebuildCount })
	return n
}

// endPass stores the result of a pass for State, logs it if it changed, and wakes the callers of Await. If
// Rebuild was called since the pass started, the result is ignored because it does not concern the new
// index. requests is the value of rebuildRequests at the start of the pass.
func (x *Indexer) endPass(ctx context.Context, err error, requests int) {
	reason := ""
	if err != nil {
		reason = message(err)
	}
	x.mu.Lock()
	changed := ctx.Err() == nil && requests == x.rebuildCount && x.failure != reason
	if changed {
		x.failure, x.since = reason, x.options.Now()
	}
	close(x.passEnded)
	x.passEnded = make(chan struct{})
	x.mu.Unlock()
	switch {
	case !changed:
	case err != nil:
		x.options.Log.Error("search index update failed and will be retried", "error", err)
	default:
		x.options.Log.Info("search index updates work again")
	}
}

// message returns the text of an error for users.
func message(err error) string {
	if e := new(errs.Error); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// runPass does a limited amount of work: it applies at most one batch to each index. more reports
// whether work is left that existed when the pass started: later changes are gathered first. A failed index is deleted, and the following passes rebuild it.
func (x *Indexer) runPass(ctx context.Context) (more bool, err error) {
	x.passMu.Lock()
	defer x.passMu.Unlock()
	defer func() {
		if e := x.trimFeed(ctx); err == nil {
			err = e
		}
	}()
	if err := x.openOrStart(ctx); err != nil {
		return false, err
	}
	for _, gen := range []*generation{x.live, x.building} {
		if gen == nil {
			continue
		}
		caughtUp, err := x.advance(ctx, gen)
		switch {
		case gen == x.live && errors.Is(err, store.ErrGap):
			more = x.fellBehind(gen) || more
			continue
		case x.mustRebuild(gen, err):
			more, err = true, x.dropUnusable(gen, err)
		}
		if err != nil && gen == x.live && x.building != nil {
			x.reportStale(gen, err)
			continue
		}
		if gen == x.building && x.live != nil && errs.KindOf(err) == errs.InsufficientStorage {
			x.abandonBuild(err)
			err = nil
		}
		if err != nil {
			return false, err
		}
		more = more || !caughtUp
		if gen == x.building && gen.complete(caughtUp) && !x.waitsForText(gen) {
			if err := x.promote(); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// openOrStart opens the existing indexes and starts a build if one is needed.
func (x *Indexer) openOrStart(ctx context.Context) error {
	if x.isClosed {
		return errClosed
	}
	if !x.prepared {
		if err := x.openAll(ctx); err != nil {
			return err
		}
	}
	backoff := x.backoffErr()
	if backoff != nil && x.live == nil && x.building == nil {
		return backoff
	}
	if x.building == nil && (x.live == nil || x.rebuildWanted()) && backoff == nil {
		err := diskFullError(x.startBuild(ctx))
		if x.live != nil && errs.KindOf(err) == errs.InsufficientStorage {
			x.abandonBuild(err)
			err = nil
		}
		return err
	}
	return nil
}

// reportStale logs, once for each index, that the live index cannot be updated. Building its
// replacement continues.
func (x *Indexer) reportStale(gen *generation, err error) {
	if !gen.staleReported {
		x.options.Log.Warn("the search index can't be updated; a new one is being built", "error", err)
	}
	gen.staleReported = true
}

// complete reports whether an index may go live. It may if it has caught up with the change feed. It
// also may if it contains every change made before its last record was indexed, so that constant writes
// do not delay it forever.
func (gen *generation) complete(caughtUp bool) bool {
	return caughtUp || gen.checkpoint.Build == nil && gen.checkpoint.Change >= gen.target
}

func (x *Indexer) rebuildWanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rebuildRequested
}

// fellBehind requests a rebuild because the change feed no longer contains the next change of the live
// index. Until the new index is complete, the live one keeps returning outdated results, and State
// reports the pending changes. requested is false if a rebuild is already in progress or was requested
// recently.
func (x *Indexer) fellBehind(gen *generation) (requested bool) {
	now := x.options.Now()
	if elapsed := now.Sub(gen.fellBehindAt); x.building != nil || !gen.fellBehindAt.IsZero() && elapsed >= 0 && elapsed < maxRetryDelay {
		return false
	}
	x.options.Log.Warn("the search index is too far behind and will be rebuilt; it stays in use until then")
	gen.fellBehindAt = now
	x.withLock(func() { x.rebuildRequested = true })
	return true
}

// advance applies the next batch to an index. caughtUp reports whether the index then contains every
// change that existed before.
func (x *Indexer) advance(ctx context.Context, gen *generation) (caughtUp bool, err error) {
	defer func() { err = diskFullError(err) }()
	if gen.damaged.Load() {
		return false, fmt.Errorf("search failed: %w", errIndexDamaged)
	}
	if err := x.checkFolder(gen); err != nil {
		return false, err
	}
	if gen.checkpoint.Build != nil {
		return false, x.buildNext(ctx, gen)
	}
	return x.applyChanges(ctx, gen)
}

var (
	errIndexDamaged = errors.New("the search index is damaged")
	errClosed       = errs.ServerStopping()
)

// mustRebuild reports whether the index has to be rebuilt because of an error: it is damaged, its files
// were deleted, or the change feed no longer contains its next change.
func (x *Indexer) mustRebuild(gen *generation, err error) bool {
	if err == nil || errors.Is(err, errNotFolder) {
		return false
	}
	if isUnusable(err) || errors.Is(err, errIndexDamaged) || errors.Is(err, store.ErrGap) || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return x.folderDeleted(gen)
}
