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
	// gatherDelay is how long changes are collected into one batch, because each batch costs disk
	// syncs. Together with maxYield and the time of a batch it stays under two seconds.
	gatherDelay = 250 * time.Millisecond
	// maxYield is how long a batch waits at most while documents are being uploaded.
	maxYield = 500 * time.Millisecond
	// pollInterval is how often the indexer checks that its folder still exists while nothing changes.
	pollInterval = 3 * time.Second
	// minRetryDelay is the pause after the first error; it doubles up to maxRetryDelay.
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
			pause = pollInterval // checking again is cheap
		}
		x.reportStatus(ctx, err, requests)
		x.signalPassEnd()
		x.notifyMissingText()
		switch {
		case err != nil:
			x.wait(ctx, pause, nil)
		case !more && x.wait(ctx, pollInterval, x.store.Changed()):
			x.wait(ctx, gatherDelay, nil)
		}
	}
}

// wait returns after Wake, a value or close on change, the pause if it is not 0, or the end of ctx. It
// reports whether change was the cause.
func (x *Indexer) wait(ctx context.Context, pause time.Duration, change <-chan struct{}) (changed bool) {
	var timer <-chan time.Time
	if pause > 0 {
		timer = time.After(pause)
	}
	select {
	case <-ctx.Done():
	case <-x.wake:
	case <-change:
		return true
	case <-timer:
	}
	return false
}

// signalPassEnd wakes callers of Await after the result of a pass has been stored.
func (x *Indexer) signalPassEnd() {
	x.withLock(func() {
		close(x.passEnded)
		x.passEnded = make(chan struct{})
	})
}

// rebuildRequests returns how often Rebuild has been called.
func (x *Indexer) rebuildRequests() (n int) {
	x.withLock(func() { n = x.rebuildCount })
	return n
}

// reportStatus stores the result of a pass for State and logs it if it changed. The result of a pass
// that began before the latest call of Rebuild is ignored: it says nothing about the new index.
func (x *Indexer) reportStatus(ctx context.Context, err error, requests int) {
	if ctx.Err() != nil || requests != x.rebuildRequests() {
		return
	}
	reason := ""
	if err != nil {
		reason = message(err)
	}
	x.mu.Lock()
	changed := x.failure != reason
	if changed {
		x.failure, x.since = reason, x.clock()
	}
	x.mu.Unlock()
	switch {
	case !changed:
	case err != nil:
		x.log.Error("the search index does not get on; it is tried again", "error", err)
	default:
		x.log.Info("the search index gets on again")
	}
}

// message returns the text of an error to show to users.
func message(err error) string {
	if e := new(errs.Error); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// runPass does the next bounded piece of work: at most one batch for each index. more reports whether
// work is left. A failed index is deleted; the following passes rebuild it.
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

// openOrStart opens the existing indexes, and starts a build if one is needed.
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

// reportStale logs once that the live index cannot be updated. Building its replacement continues.
func (x *Indexer) reportStale(gen *generation, err error) {
	if !gen.staleReported {
		x.log.Warn("the search index does not get on; another is being made", "error", err)
	}
	gen.staleReported = true
}

// complete reports whether an index may go live: it has caught up, or contains at least every change
// made before its last record was indexed. Constant writing must not delay it further.
func (gen *generation) complete(caughtUp bool) bool {
	return caughtUp || gen.checkpoint.Build == nil && gen.checkpoint.Change >= gen.target
}

func (x *Indexer) rebuildWanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rebuildRequested
}

// fellBehind requests a rebuild because the change feed no longer reaches back to the live index.
// Until the new one is complete, the live one keeps serving outdated results, and State says so.
func (x *Indexer) fellBehind(gen *generation) (asked bool) {
	now := x.clock()
	if elapsed := now.Sub(gen.fellBehindAt); x.building != nil || !gen.fellBehindAt.IsZero() && elapsed >= 0 && elapsed < maxRetryDelay {
		return false
	}
	x.log.Warn("the search index is too far behind to follow; it answers until another is made")
	gen.fellBehindAt = now
	x.withLock(func() { x.rebuildRequested = true })
	return true
}

// advance applies the next batch to an index. caughtUp is true if there was nothing to apply.
func (x *Indexer) advance(ctx context.Context, gen *generation) (caughtUp bool, err error) {
	defer func() { err = diskFullError(err) }()
	if gen.damaged.Load() {
		return false, fmt.Errorf("a search met damage in it: %w", errIndexDamaged)
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
	errIndexDamaged = errors.New("it is broken")
	errClosed       = &errs.Error{Kind: errs.Unavailable, Message: "The vault is closing."}
)

// mustRebuild reports whether an error means that the index has to be rebuilt: it is damaged, its
// files were deleted, or the change feed no longer reaches back to it.
func (x *Indexer) mustRebuild(gen *generation, err error) bool {
	if err == nil || errors.Is(err, errNotFolder) {
		return false
	}
	if isUnusable(err) || errors.Is(err, errIndexDamaged) || errors.Is(err, store.ErrGap) || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return x.folderDeleted(gen)
}
