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
func (in *Indexer) Run(ctx context.Context) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		requests := in.rebuildRequests()
		more, err := in.runPass(ctx)
		if err == nil {
			pause = 0
		} else {
			pause = min(max(2*pause, minRetryDelay), maxRetryDelay)
		}
		if errors.Is(err, errNotFolder) || errs.KindOf(err) == errs.InsufficientStorage {
			pause = pollInterval // trying again is cheap
		}
		in.endPass(ctx, err, requests)
		in.notifyMissingText()
		switch {
		case err != nil:
			in.wait(ctx, pause, nil)
		case !more && in.wait(ctx, pollInterval, in.options.Store.Changed()):
			in.wait(ctx, gatherDelay, nil)
		}
	}
}

// wait returns when Wake is called, change receives a value or is closed, pause has passed, or ctx is done.
// It reports whether change was the reason.
func (in *Indexer) wait(ctx context.Context, pause time.Duration, change <-chan struct{}) (changed bool) {
	select {
	case <-ctx.Done():
	case <-in.wake:
	case <-change:
		return true
	case <-time.After(pause):
	}
	return false
}

// rebuildRequests returns how many times Rebuild has been called.
func (in *Indexer) rebuildRequests() (n int) {
	in.withLock(func() { n = in.rebuildCount })
	return n
}

// endPass stores the result of a pass for State, logs it if it changed, and wakes the callers of Await. If
// Rebuild was called since the pass started, the result is ignored because it does not concern the new
// index. requests is the value of rebuildRequests at the start of the pass.
func (in *Indexer) endPass(ctx context.Context, err error, requests int) {
	reason := ""
	if err != nil {
		reason = message(err)
	}
	in.mu.Lock()
	changed := ctx.Err() == nil && requests == in.rebuildCount && in.failure != reason
	if changed {
		in.failure, in.since = reason, in.options.Now()
	}
	close(in.passEnded)
	in.passEnded = make(chan struct{})
	in.mu.Unlock()
	switch {
	case !changed:
	case err != nil:
		in.options.Log.Error("search index update failed and will be retried", "error", err)
	default:
		in.options.Log.Info("search index updates work again")
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
func (in *Indexer) runPass(ctx context.Context) (more bool, err error) {
	in.passMu.Lock()
	defer in.passMu.Unlock()
	defer func() {
		if e := in.trimFeed(ctx); err == nil {
			err = e
		}
	}()
	if err := in.openOrStart(ctx); err != nil {
		return false, err
	}
	for _, gen := range []*generation{in.live, in.building} {
		if gen == nil {
			continue
		}
		caughtUp, err := in.advance(ctx, gen)
		switch {
		case gen == in.live && errors.Is(err, store.ErrGap):
			more = in.fellBehind(gen) || more
			continue
		case in.mustRebuild(gen, err):
			more, err = true, in.dropUnusable(gen, err)
		}
		if err != nil && gen == in.live && in.building != nil {
			in.reportStale(gen, err)
			continue
		}
		if gen == in.building && in.live != nil && errs.KindOf(err) == errs.InsufficientStorage {
			in.abandonBuild(err)
			err = nil
		}
		if err != nil {
			return false, err
		}
		more = more || !caughtUp
		if gen == in.building && gen.complete(caughtUp) && !in.waitsForText(gen) {
			if err := in.promote(); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// openOrStart opens the existing indexes and starts a build if one is needed.
func (in *Indexer) openOrStart(ctx context.Context) error {
	if in.isClosed {
		return errClosed
	}
	if !in.prepared {
		if err := in.openAll(ctx); err != nil {
			return err
		}
	}
	backoff := in.backoffErr()
	if backoff != nil && in.live == nil && in.building == nil {
		return backoff
	}
	if in.building == nil && (in.live == nil || in.rebuildWanted()) && backoff == nil {
		err := diskFullError(in.startBuild(ctx))
		if in.live != nil && errs.KindOf(err) == errs.InsufficientStorage {
			in.abandonBuild(err)
			err = nil
		}
		return err
	}
	return nil
}

// reportStale logs, once for each index, that the live index cannot be updated. Building its
// replacement continues.
func (in *Indexer) reportStale(gen *generation, err error) {
	if !gen.staleReported {
		in.options.Log.Warn("the search index can't be updated; a new one is being built", "error", err)
	}
	gen.staleReported = true
}

// complete reports whether an index may go live. It may if it has caught up with the change feed. It
// also may if it contains every change made before its last record was indexed, so that constant writes
// do not delay it forever.
func (gen *generation) complete(caughtUp bool) bool {
	return caughtUp || gen.checkpoint.Build == nil && gen.checkpoint.Change >= gen.target
}

func (in *Indexer) rebuildWanted() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.rebuildRequested
}

// fellBehind requests a rebuild because the change feed no longer contains the next change of the live
// index. Until the new index is complete, the live one keeps returning outdated results, and State
// reports the pending changes. requested is false if a rebuild is already in progress or was requested
// recently.
func (in *Indexer) fellBehind(gen *generation) (requested bool) {
	now := in.options.Now()
	if elapsed := now.Sub(gen.fellBehindAt); in.building != nil || !gen.fellBehindAt.IsZero() && elapsed >= 0 && elapsed < maxRetryDelay {
		return false
	}
	in.options.Log.Warn("the search index is too far behind and will be rebuilt; it stays in use until then")
	gen.fellBehindAt = now
	in.withLock(func() { in.rebuildRequested = true })
	return true
}

// advance applies the next batch to an index. caughtUp reports whether the index then contains every
// change that existed before.
func (in *Indexer) advance(ctx context.Context, gen *generation) (caughtUp bool, err error) {
	defer func() { err = diskFullError(err) }()
	if gen.damaged.Load() {
		return false, fmt.Errorf("search failed: %w", errIndexDamaged)
	}
	if err := in.checkFolder(gen); err != nil {
		return false, err
	}
	if gen.checkpoint.Build != nil {
		return false, in.buildNext(ctx, gen)
	}
	return in.applyChanges(ctx, gen)
}

var (
	errIndexDamaged = errors.New("the search index is damaged")
	errClosed       = errs.ServerStopping()
)

// mustRebuild reports whether the index has to be rebuilt because of an error: it is damaged, its files
// were deleted, or the change feed no longer contains its next change.
func (in *Indexer) mustRebuild(gen *generation, err error) bool {
	if err == nil || errors.Is(err, errNotFolder) {
		return false
	}
	if isUnusable(err) || errors.Is(err, errIndexDamaged) || errors.Is(err, store.ErrGap) || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return in.folderDeleted(gen)
}

const (
	// defaultTrimBatch is the number of changes that one commit removes from the feed. Fewer are not worth
	// a commit. defaultMaxFeed is the number of changes that are kept for an index that has stopped
	// updating.
	defaultTrimBatch = 4096
	defaultMaxFeed   = 1_000_000
)

// trimFeed removes changes that every index contains from the feed, in bounded commits. It keeps up to
// maxFeed changes that an index still needs. With more changes, a rebuild costs less than applying
// them. Changes in excess of maxFeed are all removed in one pass because passes may be minutes apart
// while indexing fails.
func (in *Indexer) trimFeed(ctx context.Context) error {
	var first, last uint64
	err := in.options.Store.View(ctx, func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
	if err != nil {
		return err
	}
	upTo := last
	for _, gen := range []*generation{in.live, in.building} {
		if gen != nil && gen.fellBehindAt.IsZero() {
			upTo = min(upTo, gen.checkpoint.Change)
		}
	}
	if in.live == nil && in.building == nil {
		upTo = 0
	}
	for upTo = max(upTo, last-min(last, in.maxFeed)); upTo+1 >= first+in.batch; first += in.batch {
		err := in.options.Store.Update(ctx, nil, func(t *store.Tx) error {
			_, err := t.TrimChanges(upTo, int(in.batch))
			return err
		})
		if errs.NotWritable(err) {
			return nil // trimming can wait
		}
		if err != nil {
			return err
		}
		if first+in.batch+in.maxFeed > last {
			break // the following passes remove the rest
		}
	}
	return nil
}
