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
	// gatherFor is how long changes are gathered: each that goes into the index by
	// itself costs syncs. With yieldFor and one batch it stays under two seconds.
	gatherFor = 250 * time.Millisecond
	// yieldFor is how long a batch stands back for documents that arrive.
	yieldFor = 500 * time.Millisecond
	// lookEvery is how often it looks whether its folder is still there, when nothing
	// changes.
	lookEvery = 3 * time.Second
	// retryAfter is the first pause after an error of the disk; it doubles up to
	// retryMost.
	retryAfter = 5 * time.Second
	retryMost  = 10 * time.Minute
)

// Run does turns until ctx ends.
func (x *Indexer) Run(ctx context.Context) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		renewals := x.renewed()
		more, err := x.turn(ctx)
		if err == nil {
			pause = 0
		} else {
			pause = min(max(2*pause, retryAfter), retryMost)
		}
		if errors.Is(err, errForeign) || errs.KindOf(err) == errs.InsufficientStorage {
			pause = lookEvery // a look costs nothing
		}
		x.told(ctx, err, renewals)
		x.turnEnded()
		x.tellLacking()
		switch {
		case err != nil:
			x.rest(ctx, pause, nil)
		case !more && x.rest(ctx, lookEvery, x.store.Changed()):
			x.rest(ctx, gatherFor, nil)
		}
	}
}

// rest waits for a poke, for something in the channel, and no longer than the pause,
// where there is one. It reports whether the channel was it.
func (x *Indexer) rest(ctx context.Context, pause time.Duration, change <-chan struct{}) (changed bool) {
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

// turnEnded wakes those who wait, when what came of the turn is kept for them.
func (x *Indexer) turnEnded() {
	x.set(func() {
		close(x.turned)
		x.turned = make(chan struct{})
	})
}

// renewed counts the calls of Renew.
func (x *Indexer) renewed() (n int) {
	x.set(func() { n = x.renewals })
	return n
}

// told keeps what came of a turn for those who ask, and says once in the log what is
// in the way. A turn that began before somebody called Renew says nothing to him: the
// next one follows at once.
func (x *Indexer) told(ctx context.Context, err error, renewals int) {
	if ctx.Err() != nil || renewals != x.renewed() {
		return
	}
	reason := ""
	if err != nil {
		reason = message(err)
	}
	x.mu.Lock()
	news := x.failed != reason
	if news {
		x.failed, x.since = reason, x.clock()
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

// turn does a bounded part of what is to be done; more says that there is more. What
// is broken goes, and is made anew by the turns that follow.
func (x *Indexer) turn(ctx context.Context) (more bool, err error) {
	x.turning.Lock()
	defer x.turning.Unlock()
	defer func() {
		if e := x.trim(ctx); err == nil {
			err = e
		}
	}()
	if err := x.ready(ctx); err != nil {
		return false, err
	}
	for _, in := range []*volume{x.now, x.next} {
		if in == nil {
			continue
		}
		caught, err := x.advance(ctx, in)
		switch {
		case in == x.now && errors.Is(err, store.ErrGap):
			more = x.outran(in) || more
			continue
		case x.spent(in, err):
			more, err = true, x.broke(in, err)
		}
		if err != nil && in == x.now && x.next != nil {
			x.ill(in, err)
			continue
		}
		if in == x.next && x.now != nil && errs.KindOf(err) == errs.InsufficientStorage {
			x.giveUp(err)
			err = nil
		}
		if err != nil {
			return false, err
		}
		more = more || !caught
		if in == x.next && in.whole(caught) && !x.waits(in) {
			if err := x.promote(); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// ready opens what is there, and begins an index where one is to be made.
func (x *Indexer) ready(ctx context.Context) error {
	if x.ended {
		return errEnded
	}
	if !x.prepared {
		if err := x.prepare(ctx); err != nil {
			return err
		}
	}
	resting := x.resting()
	if resting != nil && x.now == nil && x.next == nil {
		return resting
	}
	if x.next == nil && (x.now == nil || x.wanted()) && resting == nil {
		err := full(x.begin(ctx))
		if x.now != nil && errs.KindOf(err) == errs.InsufficientStorage {
			x.giveUp(err)
			err = nil
		}
		return err
	}
	return nil
}

// ill says once that an index which answers cannot follow. That does not hold up the
// one that is made in its place.
func (x *Indexer) ill(in *volume, err error) {
	if !in.said {
		x.log.Warn("the search index does not get on; another is being made", "error", err)
	}
	in.said = true
}

// whole reports an index that has every record there was when its walk ended: what is
// written all the while must not keep it out of force.
func (in *volume) whole(caught bool) bool {
	return caught || in.mark.Place == nil && in.mark.Change >= in.goal
}

func (x *Indexer) wanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

// outran asks for another index in the place of one that answers and can never follow
// again, as it was behind for so long that the changes are gone (trim). Until that is
// whole, half of an answer, which says so, is better than none.
func (x *Indexer) outran(in *volume) (asked bool) {
	now := x.clock()
	if away := now.Sub(in.outrun); x.next != nil || !in.outrun.IsZero() && away >= 0 && away < retryMost {
		return false
	}
	x.log.Warn("the search index is too far behind to follow; it answers until another is made")
	in.outrun = now
	x.set(func() { x.asked = true })
	return true
}

// advance brings an index a batch further; caught when there was nothing more.
func (x *Indexer) advance(ctx context.Context, in *volume) (caught bool, err error) {
	defer func() { err = full(err) }()
	if in.broken.Load() {
		return false, fmt.Errorf("a search met damage in it: %w", errBroken)
	}
	if err := x.lost(in); err != nil {
		return false, err
	}
	if in.mark.Place != nil {
		return false, x.walk(ctx, in)
	}
	return x.follow(ctx, in)
}

var (
	errBroken = errors.New("it is broken")
	errEnded  = &errs.Error{Kind: errs.Unavailable, Message: "The vault is closing."}
)

// spent reports an error after which an index can only be made anew: it is damaged, or
// the feed of changes does not reach back to it, or somebody has taken its files away.
func (x *Indexer) spent(in *volume, err error) bool {
	if err == nil || errors.Is(err, errForeign) {
		return false
	}
	if broken(err) || errors.Is(err, errBroken) || errors.Is(err, store.ErrGap) || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return x.deleted(in)
}
