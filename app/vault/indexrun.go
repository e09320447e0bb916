package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

const (
	// indexGather is how long changes are gathered: each that goes into the index by
	// itself costs syncs. With indexYield and a batch of ordinary documents it stays under
	// two seconds; a batch is bounded in bytes, not in time.
	indexGather = 250 * time.Millisecond
	// indexYield is how long following stands back for documents that arrive.
	indexYield = 500 * time.Millisecond
	// indexRetry is the first pause after an error of the disk; it doubles up to
	// indexRest.
	indexRetry = 5 * time.Second
	indexRest  = 10 * time.Minute
	// indexBreaks is how many indexes in a row may break before one was whole without
	// a pause in between.
	indexBreaks = 3
	// trimAtOnce bounds a commit that trims the feed, and is how much must be there
	// for one; mostFeed is how much is kept for an index that does not get on.
	trimAtOnce = 4096
	mostFeed   = 1_000_000
)

// run does turns until ctx ends.
func (x *indexer) run(ctx context.Context) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		more, err := x.turn(ctx)
		if err == nil {
			pause = 0
		} else {
			pause = min(max(2*pause, indexRetry), indexRest)
		}
		x.told(ctx, err)
		switch {
		case err != nil:
			x.rest(ctx, pause, nil)
		case !more && x.rest(ctx, 0, x.v.store.Changed()):
			x.rest(ctx, indexGather, nil)
		}
	}
}

// rest waits for a poke, for something in the channel, and no longer than the pause,
// where there is one. It reports whether the channel was it.
func (x *indexer) rest(ctx context.Context, pause time.Duration, change <-chan struct{}) (changed bool) {
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

// told keeps what came of a turn for those who ask, and says once in the log what is
// in the way.
func (x *indexer) told(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	reason := ""
	if err != nil {
		reason = message(err)
	}
	x.mu.Lock()
	news := x.failed != reason
	if news {
		x.failed, x.since = reason, x.v.now()
	}
	x.mu.Unlock()
	switch {
	case !news:
	case err != nil:
		x.v.log.Error("the search index does not get on; it is tried again", "error", err)
	default:
		x.v.log.Info("the search index gets on again")
	}
}

// message is the sentence of an error for people.
func message(err error) string {
	if e := new(title.Error); errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// turn does a bounded part of what is to be done; more says that there is more. What
// is broken goes, and is made anew by the turns that follow.
func (x *indexer) turn(ctx context.Context) (more bool, err error) {
	x.turning.Lock()
	defer x.turning.Unlock()
	defer x.set(func() {
		close(x.turned)
		x.turned = make(chan struct{})
	})
	defer func() {
		if e := x.trim(ctx); err == nil {
			err = e
		}
	}()
	if x.ended {
		return false, errClosing
	}
	if !x.prepared {
		if err := x.prepare(ctx); err != nil {
			return false, err
		}
	}
	if x.next == nil && (x.now == nil || x.wanted()) {
		if err := x.begin(ctx); err != nil {
			return false, err
		}
	}
	for _, in := range []*volume{x.now, x.next} {
		if in == nil {
			continue
		}
		caught, err := x.advance(ctx, in)
		if x.spent(in, err) {
			more, err = true, x.breaks(in, err)
		}
		if err != nil && in == x.now && x.next != nil {
			x.ill(in, err)
			continue
		}
		if err != nil {
			return false, err
		}
		more = more || !caught
		if in == x.next && in.whole(caught) {
			if err := x.promote(); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// ill says once that an index which answers cannot follow. That does not hold up the
// one that is made in its place.
func (x *indexer) ill(in *volume, err error) {
	if !in.said {
		x.v.log.Warn("the search index does not get on; another is being made", "error", err)
	}
	in.said = true
}

// whole reports an index that has every record there was when its walk ended: what is
// written all the while must not keep it out of force.
func (in *volume) whole(caught bool) bool {
	return caught || in.mark.Place == nil && in.mark.Change >= in.goal
}

func (x *indexer) wanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked
}

// advance brings an index a batch further; caught when there was nothing more.
func (x *indexer) advance(ctx context.Context, in *volume) (caught bool, err error) {
	if in.broken.Load() {
		return false, fmt.Errorf("a search met damage in it: %w", errBroken)
	}
	if in.mark.Place != nil {
		return false, x.walk(ctx, in)
	}
	return x.follow(ctx, in)
}

var errBroken = errors.New("it is broken")

// spent reports an error after which an index can only be made anew: it is damaged, or
// the feed of changes does not reach back to it, or somebody has taken its files away.
func (x *indexer) spent(in *volume, err error) bool {
	if err == nil {
		return false
	}
	if broken(err) || errors.Is(err, errBroken) || errors.Is(err, store.ErrGap) {
		return true
	}
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	_, gone := os.Stat(x.folder(in.number))
	return errors.Is(gone, fs.ErrNotExist)
}

func (x *indexer) breaks(in *volume, why error) error {
	x.v.log.Warn("the search index is made anew", "reason", why)
	if err := x.drop(in); err != nil {
		return err
	}
	if x.failures++; x.failures > indexBreaks {
		return fmt.Errorf("the search index broke again and again: %w", why)
	}
	return nil
}

// trim takes changes out of the feed that every index has durably, rarely and a
// bounded number at once. What an index needs stays, unless there are so many that to
// make it anew costs less.
func (x *indexer) trim(ctx context.Context) error {
	var first, last uint64
	err := x.v.store.View(ctx, func(t *store.Tx) error { first, last = t.FirstChange(), t.LastChange(); return nil })
	if err != nil {
		return err
	}
	upTo := last
	for _, in := range []*volume{x.now, x.next} {
		if in != nil {
			upTo = min(upTo, in.mark.Change)
		}
	}
	if x.now == nil && x.next == nil {
		upTo = 0
	}
	upTo = max(upTo, last-min(last, mostFeed))
	if upTo+1 < first+trimAtOnce {
		return nil
	}
	err = x.v.store.Update(ctx, nil, func(t *store.Tx) error {
		_, err := t.TrimChanges(upTo, trimAtOnce)
		return err
	})
	if takesNoWrites(err) {
		return nil // they can wait
	}
	return err
}

// await is AwaitIndex.
func (x *indexer) await(ctx context.Context, report func(done, total uint64)) (s SearchState, err error) {
	var asked uint64 // all changes up to this one are waited for, not those that come meanwhile
	err = x.v.store.View(ctx, func(t *store.Tx) error { asked = t.LastChange(); return nil })
	if err != nil {
		return s, err
	}
	for {
		var ended chan struct{}
		var serving bool
		x.set(func() { ended, serving = x.turned, x.serving })
		if !serving {
			if _, err = x.turn(ctx); err != nil {
				return s, err
			}
		}
		if s, err = x.state(ctx); err != nil {
			return s, err
		}
		report(s.Done, s.Total)
		switch {
		case s.Ready && !s.Building && x.knows(asked):
			return s, nil
		case s.Failed != "":
			return s, &title.Error{Kind: title.Closing, Message: "The search index does not get on: " + s.Failed}
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

// knows reports that all changes up to one are in the index that answers.
func (x *indexer) knows(change uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now != nil && x.now.behind.Load() >= change
}
