package search

import (
	"context"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/store"
)

// Await waits until the index contains every change made before the call and a requested rebuild is
// complete. It does not wait for State.MissingText. About once a second, it calls report with the
// number of indexed records and their total. If Run is not running, Await does the work itself. If ctx
// is canceled, the next call resumes that work. Await returns InsufficientStorage if the rebuild was
// abandoned because disk space ran out. It returns Unavailable, with the reason, if indexing keeps
// failing.
func (in *Indexer) Await(ctx context.Context, report func(done, total uint64)) (s State, err error) {
	var target uint64 // the last change before the call
	err = in.options.Store.View(ctx, func(t *store.Tx) error { target = t.LastChange(); return nil })
	if err != nil {
		return s, err
	}
	in.Wake() // apply the changes without gathering more
	for {
		var passEnded chan struct{}
		var running bool
		var abandonErr error
		in.withLock(func() { passEnded, running = in.passEnded, in.running })
		if !running {
			if _, err = in.runPass(ctx); err != nil {
				return s, err
			}
		}
		if s, err = in.State(ctx); err != nil {
			return s, err
		}
		report(s.Done, s.Total)
		in.withLock(func() { abandonErr = in.abandonErr })
		switch {
		case abandonErr != nil:
			return s, abandonErr
		case s.Failure != "":
			return s, errs.NotNow(errs.Rebuilding, "The search index isn't updating: "+s.Failure, nil)
		case s.Ready && !s.Building && in.includes(target), s.Ready && in.onlyTextMissing(target):
			return s, nil // regenerating text may take a long time
		case !running:
			continue
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-passEnded:
		case <-time.After(time.Second):
		}
	}
}

// includes reports whether the live index contains every change up to and including the given one.
func (in *Indexer) includes(change uint64) bool {
	live := in.generations()[0]
	return live != nil && live.includes(change)
}

// includes reports whether an index has all records and every change up to and including the given one.
func (gen *generation) includes(change uint64) bool {
	cp := gen.published.Load()
	return cp.Build == nil && cp.Change >= change
}
