package search

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// State is the state of the search index.
type State struct {
	Ready           bool      // searches work
	Building        bool      // a rebuild is in progress, with or without a live index
	Done, Total     uint64    // number of records indexed by the rebuild, and their total
	Documents       uint64    // in the live index
	Bytes           int64     // on disk, of the live index
	Segments        int       // of the live index
	PendingChanges  uint64    // number of changes that are not in the live index yet
	MissingText     uint64    // documents whose text has to be regenerated, in whichever index lacks more
	MissingTextLive uint64    // the same number for the live index
	Processing      uint64    // number of other documents whose text is still being extracted
	Since           time.Time // when the state last changed; zero if no server is running
	Failure         string    // why indexing has stopped; "" if it works
}

// Complete reports whether searches find everything that was uploaded or changed before the state was
// read, except for the scans that OCR hasn't read (Service.UnreadScans).
func (s State) Complete() bool { return s.Ready && s.PendingChanges == 0 && s.WithoutText() == 0 }

// WithoutText returns the number of documents that searches currently find only by name.
func (s State) WithoutText() uint64 { return s.MissingTextLive + s.Processing }

// LagThreshold is the number of pending changes above which a delay is reported. A few pending changes
// are normal during uploads. The monitoring guide states the same number.
const LagThreshold = 1_000

// Lagging reports whether changes take much longer than the usual second to become searchable,
// because there are many pending changes or because indexing has stopped.
func (s State) Lagging() bool {
	return s.Ready && (s.PendingChanges > LagThreshold || s.PendingChanges > 0 && s.Failure != "")
}

// State returns the state of the index. If this process has not opened the index, State reads the files
// on disk.
func (in *Indexer) State(ctx context.Context) (s State, err error) {
	var lastChange uint64
	// Each document that leaves the processing queue after this transaction adds a change after
	// lastChange.
	err = in.options.Store.View(ctx, func(t *store.Tx) error {
		lastChange, s.Processing = t.LastChange(), t.Count(store.CountTasks)
		return nil
	})
	if err != nil {
		return s, err
	}
	in.mu.Lock()
	gen, building := in.live, in.building
	notOpen := !in.running && gen == nil && building == nil
	s.Since, s.Failure, s.Building = in.since, in.failure, building != nil || in.rebuildRequested
	if gen != nil {
		gen.readers.Add(1)
		defer gen.readers.Done()
	}
	if building != nil {
		building.readers.Add(1)
		defer building.readers.Done()
	}
	if backoff := in.backoff.err(in.options.Now()); backoff != nil && building == nil && s.Failure == "" {
		s.Failure = message(backoff)
	}
	in.mu.Unlock()
	if notOpen {
		in.readStateOnDisk(lastChange, &s)
		return s, nil
	}
	if building != nil {
		s.Done, s.Total = building.progress()
		s.MissingText = building.published.Load().MissingText.count()
	}
	if gen != nil {
		s.Ready = !gen.damaged.Load()
		s.setSize(gen.Stats())
		s.setLag(gen.published.Load(), lastChange)
	}
	return s, nil
}

func (s *State) setSize(size query.Stats) {
	s.Documents, s.Bytes, s.Segments = uint64(size.Documents), size.Bytes, size.Segments
}

// setLag sets what the live index lacks. lastChange is the last change in the feed.
func (s *State) setLag(cp *checkpoint, lastChange uint64) {
	s.PendingChanges = lastChange - min(lastChange, cp.Change) + uint64(cp.pending())
	s.MissingTextLive = cp.MissingText.count()
	s.MissingText = max(s.MissingText, s.MissingTextLive)
}

// readStateOnDisk fills in the state of an index that this process has not opened.
func (in *Indexer) readStateOnDisk(lastChange uint64, s *State) {
	folders, current, err := in.listFolders()
	if err != nil {
		s.Failure = message(err)
		return
	}
	current, _ = in.resolveCurrent(folders, current) // an integrity check reports a damaged current file
	s.Building = len(folders) > 0 && folders[len(folders)-1] > current
	if current == 0 {
		return
	}
	size, raw, err := query.Inspect(in.folder(current))
	if errors.Is(err, query.ErrOtherFormat) {
		return // a server will rebuild it
	}
	if err != nil {
		s.Failure = message(err)
		return
	}
	s.setSize(size)
	cp, ok := decodeCheckpoint(raw)
	s.Ready = ok && cp.Build == nil
	s.setLag(&cp, lastChange)
}

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
