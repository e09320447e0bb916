package audit

import (
	"strconv"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// auditBuffer holds views and downloads until the next commit. Repeated views are counted
// instead of queued.
type auditBuffer struct {
	db   *txn.DB
	wake chan struct{}

	mu             sync.Mutex
	queued         []model.Event
	views          map[viewKey]*viewState
	lost           int
	lossReason     error
	lossReportedAt time.Time
	readCounters   map[string]*minuteCounter // by user record
}

// viewKey identifies views that are counted together. The address is empty for users,
// because one user may have thousands of addresses.
type viewKey struct{ kind, as, record, actor, address string }

func viewKeyOf(e model.Event) viewKey {
	v := viewKey{e.Kind, e.Detail["as"], e.Record, e.Actor.Record(), e.Actor.Address}
	if e.Actor.Kind == model.ActorUser {
		v.address = ""
	}
	return v
}

// minuteCounter counts the entries that a user caused by reading in the minute from start.
type minuteCounter struct {
	start time.Time
	count int
}

// viewState is the state of a view since it was last written.
type viewState struct {
	actor     model.Actor // of the last view
	writtenAt time.Time   // zero if the next view is to be written
	lastAt    time.Time
	repeats   int // since writtenAt
}

const (
	maxBuffered        = 4096             // limit of queued events, and of views in memory
	viewWindow         = time.Minute      // repeats within it are counted as one entry
	viewLifetime       = 10 * time.Minute // later ranges within it belong to the view; it is longer than the lifetime of links
	lossReportInterval = time.Minute
	// maxReadsPerMinute is how many entries a user may cause by reading in a minute: more
	// than people read, and too few to fill the disk.
	maxReadsPerMinute = 600
)

func newAuditBuffer(db *txn.DB) *auditBuffer {
	return &auditBuffer{db: db, wake: make(chan struct{}, 1), views: map[viewKey]*viewState{}, readCounters: map[string]*minuteCounter{}}
}

// Kinds of events whose repeats within a minute are counted: views, searches, and
// downloads by users. Downloads with an API key are logged one by one.
const (
	Opened     = "file.opened"
	Downloaded = "file.downloaded"
	searched   = "search.asked"
)

// coalesces reports whether repeats of an event within a minute are counted as one.
func coalesces(e model.Event) bool {
	return e.Kind == Opened || e.Kind == searched || e.Kind == Downloaded && e.Actor.Kind == model.ActorUser
}

// record queues an event, or counts it if it repeats an earlier one. With continued set,
// the event is the later part of a view and counts only if no view began before.
func (n *auditBuffer) record(e model.Event, continued bool) {
	e.At = n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if coalesces(e) && n.coalesce(e, continued) {
		return
	}
	if e.Actor.Kind == model.ActorUser && e.Detail["as"] == "" {
		n.readCounter(e.Actor.Record(), e.At).count++
	}
	n.add(e)
}

// readCounter returns the counter of a user for the current minute.
func (n *auditBuffer) readCounter(user string, now time.Time) *minuteCounter {
	at := n.readCounters[user]
	if at == nil || !txn.Within(at.start, now, time.Minute) {
		at = &minuteCounter{start: now}
		n.readCounters[user] = at
	}
	return at
}

// rateLimited reports whether a user has reached maxReadsPerMinute.
func (n *auditBuffer) rateLimited(user string) bool {
	now := n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.readCounters[user]
	return at != nil && txn.Within(at.start, now, time.Minute) && at.count >= maxReadsPerMinute
}

// add queues an event; it drops the event if the queue is full.
func (n *auditBuffer) add(e model.Event) {
	if len(n.queued) >= maxBuffered {
		n.lost++
	} else {
		n.queued = append(n.queued, e)
	}
	if len(n.queued) >= maxBuffered/2 {
		select {
		case n.wake <- struct{}{}:
		default: // already notified
		}
	}
}

// coalesce reports whether an event repeats one that is already logged, and counts it.
func (n *auditBuffer) coalesce(e model.Event, continued bool) bool {
	key := viewKeyOf(e)
	seen, known := n.views[key]
	if !known {
		n.evict()
		seen = &viewState{}
		n.views[key] = seen
	}
	began := known && txn.Within(seen.lastAt, e.At, viewLifetime)
	seen.lastAt = e.At
	if continued && began {
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

// evict drops the oldest of a sample of views. If the view continues later, it is logged
// again.
func (n *auditBuffer) evict() {
	if len(n.views) < maxBuffered {
		return
	}
	var oldest viewKey
	looked := 0
	for key, seen := range n.views { // in random order
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

// evictionSample is how many views evict compares; it bounds the time under the lock.
const evictionSample = 32

// summaryEvent returns the entry for the repeats of a view and resets their count.
func summaryEvent(key viewKey, seen *viewState) model.Event {
	e := model.Event{At: seen.lastAt, Actor: seen.actor, Kind: key.kind, Record: key.record,
		Detail: map[string]string{"count": strconv.Itoa(seen.repeats)}}
	if key.as != "" {
		e.Detail["as"] = key.as
	}
	seen.repeats, seen.writtenAt = 0, time.Time{}
	return e
}

// due reports whether drain would return anything.
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

// drain empties the queue and returns it with the counts of views whose minute is over, or
// of all views.
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

// write appends events to the log. An event older than the last entry gets the time of
// that entry, so that the log is sorted by time unless the clock was set back.
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

// requeue puts events back that could not be written. It drops them if the vault accepts
// no writes.
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

// drop counts lost events and reports them.
func (n *auditBuffer) drop(count int, err error) {
	n.mu.Lock()
	n.lost += count
	n.lossReason = err
	n.mu.Unlock()
	n.reportLoss(false)
}

// reportLoss logs how many events were lost, at most once per lossReportInterval unless
// now is set.
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
