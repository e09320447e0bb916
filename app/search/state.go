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
	Ready       bool      // it answers
	Building    bool      // one is being made, be it beside one that answers
	Done, Total uint64    // records, of the one that is being made
	Documents   uint64    // in the one that answers
	Bytes       int64     // on the disk
	Segments    int       // files that they lie in
	Behind      uint64    // changes that it does not know of yet
	Texts       uint64    // documents that are not found by their text, which is to be made again
	Lacking     uint64    // of Texts, those that the one that answers lacks
	Processing  uint64    // documents besides, whose text is being made, be it again
	Since       time.Time // of this state; zero where no server runs
	Failed      string    // why nothing goes on for now; "" when all is well
}

// Complete reports that an answer of the index lacks nothing that was filed or changed
// before this was its state.
func (s State) Complete() bool { return s.Ready && s.Behind == 0 && s.ByName() == 0 }

// ByName is how many documents are found by their name alone for now.
func (s State) ByName() uint64 { return s.Lacking + s.Processing }

// FarBehind is how many changes an index may be behind before people are told. A few it
// always is while somebody files; deedkeep help monitoring has the same number.
const FarBehind = 1_000

// Late reports changes that are not found for longer than the two seconds that are
// promised: the index is far behind, or is behind and nothing goes on.
func (s State) Late() bool {
	return s.Ready && (s.Behind > FarBehind || s.Behind > 0 && s.Failed != "")
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
	in, next := x.now, x.next
	idle := !x.serving && in == nil && next == nil
	s.Since, s.Failed, s.Building = x.since, x.failed, next != nil || x.asked
	if in != nil {
		in.users.Add(1)
		defer in.users.Done()
	}
	if next != nil {
		next.users.Add(1)
		defer next.users.Done()
	}
	if rest := x.breaks.rest(x.clock()); rest != nil && next == nil && s.Failed == "" {
		s.Failed = message(rest)
	}
	x.mu.Unlock()
	if idle {
		x.look(last, &s)
		return s, nil
	}
	if next != nil {
		s.Done, s.Total = next.done()
		s.Texts = next.lacks().count()
	}
	if in != nil {
		s.Ready = !in.broken.Load()
		s.Documents, s.Bytes, s.Segments = in.Size()
		s.Behind = last - min(last, in.behind.Load()) + in.owed.Load()
		s.Lacking = in.lacks().count()
		s.Texts = max(s.Texts, s.Lacking)
	}
	return s, nil
}

// look tells of what lies on the disk, where nobody has it open.
func (x *Indexer) look(last uint64, s *State) {
	list, current, err := x.folders()
	if err != nil {
		s.Failed = message(err)
		return
	}
	current, _ = x.inForce(list, current) // a verification tells of the damage
	s.Building = len(list) > 0 && list[len(list)-1] > current
	if current == 0 {
		return
	}
	size, raw, err := query.Inspect(x.folder(current))
	if errors.Is(err, query.ErrOtherFormat) {
		return // a server makes it anew
	}
	if err != nil {
		s.Failed = message(err)
		return
	}
	s.Documents, s.Bytes, s.Segments = uint64(size.Documents), size.Bytes, size.Segments
	mark, ok := readMark(raw)
	s.Ready = ok && mark.Place == nil
	s.Behind = last - min(last, mark.Change) + uint64(len(mark.Owed))
	s.Lacking = mark.Lacking.count()
	s.Texts = s.Lacking
}
