package audit

import (
	"strconv"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// auditBuffer are events that wait for their commit: views and downloads, of which there
// may be many and which change nothing.
type auditBuffer struct {
	db   *txn.DB
	wake chan struct{}

	mu             sync.Mutex
	queued         []model.Event
	views          map[viewKey]*viewState
	lost           int
	lossReason     error
	lossReportedAt time.Time
	readCounters   map[string]*minuteCounter // of users, by record
}

// viewKey is what counts once a minute. Of a user it is the same from every address: of
// those somebody may have thousands.
type viewKey struct{ kind, as, record, actor, address string }

func viewKeyOf(e model.Event) viewKey {
	v := viewKey{e.Kind, e.Detail["as"], e.Record, e.Actor.Record(), e.Actor.Address}
	if e.Actor.Kind == model.ActorUser {
		v.address = ""
	}
	return v
}

// minuteCounter is how much a user wrote to the log by reading, in the minute that began then.
type minuteCounter struct {
	start time.Time
	count int
}

// viewState is how a view went on since it was last written.
type viewState struct {
	actor     model.Actor // of the last one
	writtenAt time.Time   // zero: the next one is written
	lastAt    time.Time
	repeats   int // since written
}

const (
	maxBuffered        = 4096             // that wait, and views that are remembered
	viewWindow         = time.Minute      // in which a view counts once
	viewLifetime       = 10 * time.Minute // in which ranges belong to it; links live shorter
	lossReportInterval = time.Minute
	// maxReadsPerMinute is how many entries a user may write by reading in a minute: more than
	// anybody reads, and little enough that nobody fills the disk with them.
	maxReadsPerMinute = 600
)

func newAuditBuffer(db *txn.DB) *auditBuffer {
	return &auditBuffer{db: db, wake: make(chan struct{}, 1), views: map[viewKey]*viewState{}, readCounters: map[string]*minuteCounter{}}
}

// The kinds of events that count once a minute: views, and downloads on pages. What a
// program asks for with its key is counted one by one.
// So are searches, which show words of documents: who searched, and when, but not for
// what, since that is people's names.
const (
	Opened     = "file.opened"
	Downloaded = "file.downloaded"
	searched   = "search.asked"
)

func coalesces(e model.Event) bool {
	return e.Kind == Opened || e.Kind == searched || e.Kind == Downloaded && e.Actor.Kind == model.ActorUser
}

// record takes down what happened now, or counts it with what is known already.
// ShouldContinue is set for the later part of a view, which counts only where none began.
func (n *auditBuffer) record(e model.Event, goesOn bool) {
	e.At = n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if coalesces(e) && n.coalesce(e, goesOn) {
		return
	}
	if e.Actor.Kind == model.ActorUser && e.Detail["as"] == "" {
		n.readCounter(e.Actor.Record(), e.At).count++
	}
	n.add(e)
}

// readCounter is how much a user wrote in the minute that goes on.
func (n *auditBuffer) readCounter(user string, now time.Time) *minuteCounter {
	at := n.readCounters[user]
	if at == nil || !txn.Within(at.start, now, time.Minute) {
		at = &minuteCounter{start: now}
		n.readCounters[user] = at
	}
	return at
}

// rateLimited reports whether a user has written as much as is allowed.
func (n *auditBuffer) rateLimited(user string) bool {
	now := n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.readCounters[user]
	return at != nil && txn.Within(at.start, now, time.Minute) && at.count >= maxReadsPerMinute
}

// add lets an event wait, if there is room for it.
func (n *auditBuffer) add(e model.Event) {
	if len(n.queued) >= maxBuffered {
		n.lost++
	} else {
		n.queued = append(n.queued, e)
	}
	if len(n.queued) >= maxBuffered/2 {
		select {
		case n.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// coalesce reports whether an event is one more of a view that is written.
func (n *auditBuffer) coalesce(e model.Event, goesOn bool) bool {
	key := viewKeyOf(e)
	seen, known := n.views[key]
	if !known {
		n.evict()
		seen = &viewState{}
		n.views[key] = seen
	}
	began := known && txn.Within(seen.lastAt, e.At, viewLifetime)
	seen.lastAt = e.At
	if goesOn && began {
		return true
	}
	seen.actor = e.Actor
	if txn.Within(seen.writtenAt, e.At, viewWindow) {
		seen.repeats++
		return true
	}
	if seen.repeats > 0 {
		n.add(summaryEvent(key, seen))
	}
	seen.writtenAt = e.At
	return false
}

// evict takes one of the views out that went on longest ago, of some: the next part
// of it is written once more, and none is ever left out.
func (n *auditBuffer) evict() {
	if len(n.views) < maxBuffered {
		return
	}
	var oldest viewKey
	looked := 0
	for key, seen := range n.views { // in no order
		if looked == 0 || seen.lastAt.Before(n.views[oldest].lastAt) {
			oldest = key
		}
		if looked++; looked == evictionSample {
			break
		}
	}
	if seen := n.views[oldest]; seen.repeats > 0 {
		n.add(summaryEvent(oldest, seen))
	}
	delete(n.views, oldest)
}

// evictionSample is how many views are looked at for the oldest one: nobody shall wait for it.
const evictionSample = 32

// summaryEvent makes the entry of those of a minute that were not written one by one.
func summaryEvent(key viewKey, seen *viewState) model.Event {
	e := model.Event{At: seen.lastAt, Actor: seen.actor, Kind: key.kind, Record: key.record, Detail: map[string]string{"count": strconv.Itoa(seen.repeats)}}
	if key.as != "" {
		e.Detail["as"] = key.as
	}
	seen.repeats, seen.writtenAt = 0, time.Time{}
	return e
}

// due reports whether take has something to give.
func (n *auditBuffer) due() bool {
	now := n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queued) > 0 {
		return true
	}
	for _, seen := range n.views {
		if seen.repeats > 0 && !txn.Within(seen.writtenAt, now, viewWindow) {
			return true
		}
	}
	return false
}

// drain empties what waits, with the sums of the minutes that are over, or of all.
func (n *auditBuffer) drain(all bool) []model.Event {
	now := n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, seen := range n.views {
		switch {
		case seen.repeats > 0 && (all || !txn.Within(seen.writtenAt, now, viewWindow)):
			n.queued = append(n.queued, summaryEvent(key, seen))
		case seen.repeats == 0 && !txn.Within(seen.lastAt, now, viewLifetime):
			delete(n.views, key)
		}
	}
	for user, at := range n.readCounters {
		if !txn.Within(at.start, now, time.Minute) {
			delete(n.readCounters, user)
		}
	}
	waiting := n.queued
	n.queued = nil
	return waiting
}

// write appends the events to the log. Their times follow those of the changes that
// were written meanwhile, so that the log is in order of time as long as the clock
// is not set back.
func (n *auditBuffer) write(t *store.Tx, head time.Time, batch []model.Event) error {
	for _, e := range batch {
		if head.After(e.At) && head.Sub(e.At) < 2*viewWindow {
			e.At = head
		}
		if err := t.AddEvent(e); err != nil {
			return err
		}
		head = e.At
	}
	return nil
}

// requeue keeps what could not be written, if it ever can be.
func (n *auditBuffer) requeue(batch []model.Event, err error) {
	if txn.NotWritable(err) {
		n.drop(len(batch), err)
		return
	}
	n.mu.Lock()
	n.queued = append(batch, n.queued...)
	over := max(0, len(n.queued)-maxBuffered)
	n.queued = n.queued[:len(n.queued)-over]
	n.mu.Unlock()
	n.drop(over, err)
}

// drop counts what nobody will read, and tells.
func (n *auditBuffer) drop(count int, err error) {
	n.mu.Lock()
	n.lost += count
	n.lossReason = err
	n.mu.Unlock()
	n.reportLoss(false)
}

// reportLoss says how many were lost, not more often than each minute.
func (n *auditBuffer) reportLoss(now bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.db.Now()
	if n.lost == 0 || !now && at.Sub(n.lossReportedAt) < lossReportInterval {
		return
	}
	n.db.Log.Warn("views and downloads were not written to the log of events", "lost", n.lost, "error", n.lossReason)
	n.lost, n.lossReportedAt = 0, at
}
