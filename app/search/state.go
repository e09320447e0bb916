package search

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// State is how the index of words is.
type State struct {
	Ready           bool      // it answers
	Building        bool      // one is being made, be it beside one that answers
	Done, Total     uint64    // records, of the one that is being made
	Documents       uint64    // in the one that answers
	Bytes           int64     // on the disk
	Segments        int       // files that they lie in
	PendingChanges  uint64    // changes that it does not know of yet
	MissingText     uint64    // documents that are not found by their text, which is to be made again
	MissingTextLive uint64    // of Texts, those that the one that answers lacks
	Processing      uint64    // documents besides, whose text is being made, be it again
	Since           time.Time // of this state; zero where no server runs
	Failure         string    // why nothing goes on for now; "" when all is well
}

// Complete reports that an answer of the index lacks nothing that was filed or changed
// before this was its state.
func (s State) Complete() bool { return s.Ready && s.PendingChanges == 0 && s.WithoutText() == 0 }

// WithoutText is how many documents are found by their name alone for now.
func (s State) WithoutText() uint64 { return s.MissingTextLive + s.Processing }

// LagThreshold is how many changes an index may be behind before people are told. A few it
// always is while somebody files; deedkeep help monitoring has the same number.
const LagThreshold = 1_000

// Lagging reports changes that are not found for longer than the two seconds that are
// promised: the index is far behind, or is behind and nothing goes on.
func (s State) Lagging() bool {
	return s.Ready && (s.PendingChanges > LagThreshold || s.PendingChanges > 0 && s.Failure != "")
}

// State tells how the index is. Where nobody runs it, and nobody has made it in
// this process, that is what lies on the disk.
func (x *Indexer) State(ctx context.Context) (s State, err error) {
	var last uint64
	// What is in the queue here is known to the index by a later change than last.
	err = x.store.View(ctx, func(t *store.Tx) error { last, s.Processing = t.LastChange(), t.Count(store.CountTasks); return nil })
	if err != nil {
		return s, err
	}
	x.mu.Lock()
	in, next := x.live, x.building
	idle := !x.running && in == nil && next == nil
	s.Since, s.Failure, s.Building = x.since, x.failure, next != nil || x.rebuildRequested
	if in != nil {
		in.readers.Add(1)
		defer in.readers.Done()
	}
	if next != nil {
		next.readers.Add(1)
		defer next.readers.Done()
	}
	if rest := x.backoff.err(x.clock()); rest != nil && next == nil && s.Failure == "" {
		s.Failure = message(rest)
	}
	x.mu.Unlock()
	if idle {
		x.readStateOnDisk(last, &s)
		return s, nil
	}
	if next != nil {
		s.Done, s.Total = next.progress()
		s.MissingText = next.missing().count()
	}
	if in != nil {
		s.Ready = !in.damaged.Load()
		s.Documents, s.Bytes, s.Segments = in.Size()
		s.PendingChanges = last - min(last, in.change.Load()) + in.pendingFiles.Load()
		s.MissingTextLive = in.missing().count()
		s.MissingText = max(s.MissingText, s.MissingTextLive)
	}
	return s, nil
}

// readStateOnDisk tells of what lies on the disk, where nobody has it open.
func (x *Indexer) readStateOnDisk(last uint64, s *State) {
	list, current, err := x.listFolders()
	if err != nil {
		s.Failure = message(err)
		return
	}
	current, _ = x.resolveCurrent(list, current) // a verification tells of the damage
	s.Building = len(list) > 0 && list[len(list)-1] > current
	if current == 0 {
		return
	}
	size, raw, err := query.Inspect(x.folder(current))
	if errors.Is(err, query.ErrOtherFormat) {
		return // a server makes it anew
	}
	if err != nil {
		s.Failure = message(err)
		return
	}
	s.Documents, s.Bytes, s.Segments = uint64(size.Documents), size.Bytes, size.Segments
	mark, ok := decodeCheckpoint(raw)
	s.Ready = ok && mark.Build == nil
	s.PendingChanges = last - min(last, mark.Change) + uint64(len(mark.PendingFiles))
	s.MissingTextLive = mark.MissingText.count()
	s.MissingText = s.MissingTextLive
}
