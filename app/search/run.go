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
	// gatherDelay is how long changes are gathered: each that goes into the index by
	// itself costs syncs. With maxYield and one batch it stays under two seconds.
	gatherDelay = 250 * time.Millisecond
	// maxYield is how long a batch stands back for documents that arrive.
	maxYield = 500 * time.Millisecond
	// pollInterval is how often it looks whether its folder is still there, when nothing
	// changes.
	pollInterval = 3 * time.Second
	// minRetryDelay is the first pause after an error of the disk; it doubles up to
	// maxRetryDelay.
	minRetryDelay = 5 * time.Second
	maxRetryDelay = 10 * time.Minute
)

// Run does turns until ctx ends.
func (x *Indexer) Run(ctx context.Context) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		renewals := x.rebuildRequests()
		more, err := x.runPass(ctx)
		if err == nil {
			pause = 0
		} else {
			pause = min(max(2*pause, minRetryDelay), maxRetryDelay)
		}
		if errors.Is(err, errNotFolder) || errs.KindOf(err) == errs.InsufficientStorage {
			pause = pollInterval // a look costs nothing
		}
		x.reportStatus(ctx, err, renewals)
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

// wait waits for a poke, for something in the channel, and no longer than the pause,
// where there is one. It reports whether the channel was it.
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

// signalPassEnd wakes those who wait, when what came of the turn is kept for them.
func (x *Indexer) signalPassEnd() {
	x.withLock(func() {
		close(x.passEnded)
		x.passEnded = make(chan struct{})
	})
}

// rebuildRequests counts the calls of Renew.
func (x *Indexer) rebuildRequests() (n int) {
	x.withLock(func() { n = x.rebuildCount })
	return n
}

// reportStatus keeps what came of a turn for those who ask, and says once in the log what is
// in the way. A turn that began before somebody called Renew says nothing to him: the
// next one follows at once.
func (x *Indexer) reportStatus(ctx context.Context, err error, renewals int) {
	if ctx.Err() != nil || renewals != x.rebuildRequests() {
		return
	}
	reason := ""
	if err != nil {
		reason = message(err)
	}
	x.mu.Lock()
	news := x.failure != reason
	if news {
		x.failure, x.since = reason, x.clock()
	}
	x.mu.Unlock()
	switch {
	case !news:
	case err != nil:
		x.log.Error("the search index does not get on; it is tried again", "error", err)
	default:
		x.log.Info("the search index gets on again")
	}
}

// message is the sentence of an error for people.
func message(err error) string {
	if e := new(errs.Error); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// runPass does a bounded part of what is to be done; more says that there is more. What
// is broken goes, and is made anew by the turns that follow.
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
	for _, in := range []*generation{x.live, x.building} {
		if in == nil {
			continue
		}
		caught, err := x.advance(ctx, in)
		switch {
		case in == x.live && errors.Is(err, store.ErrGap):
			more = x.fellBehind(in) || more
			continue
		case x.mustRebuild(in, err):
			more, err = true, x.dropUnusable(in, err)
		}
		if err != nil && in == x.live && x.building != nil {
			x.reportStale(in, err)
			continue
		}
		if in == x.building && x.live != nil && errs.KindOf(err) == errs.InsufficientStorage {
			x.abandonBuild(err)
			err = nil
		}
		if err != nil {
			return false, err
		}
		more = more || !caught
		if in == x.building && in.complete(caught) && !x.waitsForText(in) {
			if err := x.promote(); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// openOrStart opens what is there, and begins an index where one is to be made.
func (x *Indexer) openOrStart(ctx context.Context) error {
	if x.isClosed {
		return errClosed
	}
	if !x.prepared {
		if err := x.openAll(ctx); err != nil {
			return err
		}
	}
	resting := x.backoffErr()
	if resting != nil && x.live == nil && x.building == nil {
		return resting
	}
	if x.building == nil && (x.live == nil || x.rebuildWanted()) && resting == nil {
		err := diskFullError(x.startBuild(ctx))
		if x.live != nil && errs.KindOf(err) == errs.InsufficientStorage {
			x.abandonBuild(err)
			err = nil
		}
		return err
	}
	return nil
}

// reportStale says once that an index which answers cannot follow. That does not hold up the
// one that is made in its place.
func (x *Indexer) reportStale(in *generation, err error) {
	if !in.staleReported {
		x.log.Warn("the search index does not get on; another is being made", "error", err)
	}
	in.staleReported = true
}

// complete reports an index that has every record there was when its walk ended: what is
// written all the while must not keep it out of force.
func (in *generation) complete(caught bool) bool {
	return caught || in.checkpoint.Build == nil && in.checkpoint.Change >= in.target
}

func (x *Indexer) rebuildWanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rebuildRequested
}

// fellBehind asks for another index in the place of one that answers and can never follow
// again, as it was behind for so long that the changes are gone (trim). Until that is
// whole, half of an answer, which says so, is better than none.
func (x *Indexer) fellBehind(in *generation) (asked bool) {
	now := x.clock()
	if away := now.Sub(in.fellBehindAt); x.building != nil || !in.fellBehindAt.IsZero() && away >= 0 && away < maxRetryDelay {
		return false
	}
	x.log.Warn("the search index is too far behind to follow; it answers until another is made")
	in.fellBehindAt = now
	x.withLock(func() { x.rebuildRequested = true })
	return true
}

// advance brings an index a batch further; caught when there was nothing more.
func (x *Indexer) advance(ctx context.Context, in *generation) (caught bool, err error) {
	defer func() { err = diskFullError(err) }()
	if in.damaged.Load() {
		return false, fmt.Errorf("a search met damage in it: %w", errIndexDamaged)
	}
	if err := x.checkFolder(in); err != nil {
		return false, err
	}
	if in.checkpoint.Build != nil {
		return false, x.buildNext(ctx, in)
	}
	return x.applyChanges(ctx, in)
}

var (
	errIndexDamaged = errors.New("it is broken")
	errClosed       = &errs.Error{Kind: errs.Unavailable, Message: "The vault is closing."}
)

// mustRebuild reports an error after which an index can only be made anew: it is damaged, or
// the feed of changes does not reach back to it, or somebody has taken its files away.
func (x *Indexer) mustRebuild(in *generation, err error) bool {
	if err == nil || errors.Is(err, errNotFolder) {
		return false
	}
	if isUnusable(err) || errors.Is(err, errIndexDamaged) || errors.Is(err, store.ErrGap) || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return x.folderDeleted(in)
}
