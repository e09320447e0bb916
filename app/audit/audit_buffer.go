package audit

import (
	"strconv"
	"sync"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/stats"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// auditBuffer holds views and downloads until the next commit. Repeated views are combined
// into one entry with a count.
type auditBuffer struct {
	db   *txn.DB
	wake chan struct{}

	mu             sync.Mutex
	queued         []model.Event
	views          map[viewKey]*viewState
	lost           int
	lossReason     error
	lossReportedAt time.Time
	reads          *stats.RateLimiter // by the user's record name
}

// viewKey identifies views that are counted together. The address is empty for users,
// because a user may have thousands of addresses.
type viewKey struct{ kind, as, record, actor, address string }

func viewKeyOf(e model.Event) viewKey {
	v := viewKey{e.Kind, e.Detail["as"], e.Record, e.Actor.Record(), e.Actor.Address}
	if e.Actor.Kind == model.ActorUser {
		v.address = ""
	}
	return v
}

// viewState is what is known about a view since its last entry was written.
type viewState struct {
	actor     model.Actor // actor of the last view
	writtenAt time.Time   // time of the last entry; zero if the next view must be logged
	lastAt    time.Time
	repeats   int // number of views since writtenAt
}

const (
	maxBuffered        = 4096             // maximum number of queued events, and of views in memory
	viewWindow         = time.Minute      // repeats within this time are counted as one entry
	viewLifetime       = 10 * time.Minute // ranges requested within this time belong to the same view; longer than the lifetime of links
	lossReportInterval = time.Minute
	// maxReadsPerMinute is the maximum number of audit entries per minute that a user can
	// add by viewing or downloading documents. It is more than a person needs but not
	// enough to fill the disk.
	maxReadsPerMinute = 600
)

func newAuditBuffer(db *txn.DB) *auditBuffer {
	return &auditBuffer{db: db, wake: make(chan struct{}, 1), views: map[viewKey]*viewState{}, reads: stats.NewRateLimiter(maxReadsPerMinute, db.Now)}
}

// Events whose repeats within a minute are combined: views, searches, and downloads by
// users. Downloads with an API key are logged individually.
const (
	Opened     = "file.opened"
	Downloaded = "file.downloaded"
	searched   = "search.asked"
)

// coalesces reports whether repeats of an event within a minute are combined into one
// entry.
func coalesces(e model.Event) bool {
	return e.Kind == Opened || e.Kind == searched || e.Kind == Downloaded && e.Actor.Kind == model.ActorUser
}

// record queues an event or, if it repeats an earlier one, counts it. If continued is set,
// the event is a later part of a view and is logged only if the start of the view wasn't.
func (b *auditBuffer) record(e model.Event, continued bool) {
	e.At = b.db.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if coalesces(e) && b.coalesce(e, continued) {
		return
	}
	if e.Actor.Kind == model.ActorUser && e.Detail["as"] == "" {
		b.reads.Allow(e.Actor.Record()) // RateLimited reports whether it is too many
	}
	b.add(e)
}

// add queues an event. If the queue is full, it drops the event and counts it as lost.
func (b *auditBuffer) add(e model.Event) {
	if len(b.queued) >= maxBuffered {
		b.lost++
	} else {
		b.queued = append(b.queued, e)
	}
	if len(b.queued) >= maxBuffered/2 {
		select {
		case b.wake <- struct{}{}:
		default: // already notified
		}
	}
}

// coalesce reports whether an event belongs to a view that is already logged. If the event
// is a repeat, coalesce counts it.
func (b *auditBuffer) coalesce(e model.Event, continued bool) bool {
	key := viewKeyOf(e)
	view, exists := b.views[key]
	if !exists {
		b.evict()
		view = &viewState{}
		b.views[key] = view
	}
	active := exists && within(view.lastAt, e.At, viewLifetime)
	view.lastAt = e.At
	if continued && active {
		return true
	}
	view.actor = e.Actor
	if within(view.writtenAt, e.At, viewWindow) {
		view.repeats++
		return true
	}
	if view.repeats > 0 {
		b.add(summaryEvent(key, view))
	}
	view.writtenAt = e.At
	return false
}

// within reports whether now is less than period after from. It returns false if now is
// before from because the clock was set back.
func within(from, now time.Time, period time.Duration) bool {
	passed := now.Sub(from)
	return passed >= 0 && passed < period
}

// evict drops the oldest view in a random sample. If that view continues later, it is
// logged again.
func (b *auditBuffer) evict() {
	if len(b.views) < maxBuffered {
		return
	}
	var oldest viewKey
	sampled := 0
	for key, view := range b.views { // in random order
		if sampled == 0 || view.lastAt.Before(b.views[oldest].lastAt) {
			oldest = key
		}
		if sampled++; sampled == evictionSample {
			break
		}
	}
	if view := b.views[oldest]; view.repeats > 0 {
		b.add(summaryEvent(oldest, view))
	}
	delete(b.views, oldest)
}

// evictionSample is the number of views that evict compares. It limits how long evict holds
// the lock.
const evictionSample = 32

// summaryEvent returns the entry for the repeats of a view and resets their count.
func summaryEvent(key viewKey, view *viewState) model.Event {
	e := model.Event{At: view.lastAt, Actor: view.actor, Kind: key.kind, Record: key.record,
		Detail: map[string]string{"count": strconv.Itoa(view.repeats)}}
	if key.as != "" {
		e.Detail["as"] = key.as
	}
	view.repeats, view.writtenAt = 0, time.Time{}
	return e
}

// due reports whether drain would return anything.
func (b *auditBuffer) due() bool {
	now := b.db.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queued) > 0 {
		return true
	}
	for _, view := range b.views {
		if view.repeats > 0 && !within(view.writtenAt, now, viewWindow) {
			return true
		}
	}
	return false
}

// drain empties the queue and returns its events. It adds an entry for the repeats of each
// view whose minute is over, or of every view if all is set.
func (b *auditBuffer) drain(all bool) []model.Event {
	now := b.db.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, view := range b.views {
		switch {
		case view.repeats > 0 && (all || !within(view.writtenAt, now, viewWindow)):
			b.queued = append(b.queued, summaryEvent(key, view))
		case view.repeats == 0 && !within(view.lastAt, now, viewLifetime):
			delete(b.views, key)
		}
	}
	events := b.queued
	b.queued = nil
	return events
}

// write appends events to the audit log. If an event is older than the last entry, it gets
// the time of that entry. This keeps the log sorted by time unless the clock was set back.
func (b *auditBuffer) write(t *store.Tx, head time.Time, batch []model.Event) error {
	for _, e := range batch {
		if head.After(e.At) && head.Sub(e.At) < 2*viewWindow {
			e.At = head
		}
		if err := b.db.AddEntry(t, e); err != nil {
			return err
		}
		head = e.At
	}
	return nil
}

// requeue puts events back into the queue after a write failed. It drops them if the vault
// is not writable.
func (b *auditBuffer) requeue(batch []model.Event, err error) {
	if errs.NotWritable(err) {
		b.drop(len(batch), err)
		return
	}
	b.mu.Lock()
	b.queued = append(batch, b.queued...)
	over := max(0, len(b.queued)-maxBuffered)
	b.queued = b.queued[:len(b.queued)-over]
	b.mu.Unlock()
	b.drop(over, err)
}

// drop counts lost events and logs the loss.
func (b *auditBuffer) drop(count int, err error) {
	b.mu.Lock()
	b.lost += count
	b.lossReason = err
	b.mu.Unlock()
	b.reportLoss(false)
}

// reportLoss logs how many events were lost, at most once per lossReportInterval unless
// force is set.
func (b *auditBuffer) reportLoss(force bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.db.Now()
	if b.lost == 0 || !force && now.Sub(b.lossReportedAt) < lossReportInterval {
		return
	}
	b.db.Log.Warn("views and downloads not written to the audit log", "lost", b.lost, "error", b.lossReason)
	b.lost, b.lossReportedAt = 0, now
}
