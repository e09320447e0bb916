package audit

import (
	"strconv"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// notes are events that wait for their commit: views and downloads, of which there
// may be many and which change nothing.
type notes struct {
	db   *txn.DB
	wake chan struct{}

	mu      sync.Mutex
	waiting []model.Event
	views   map[view]*viewed
	lost    int
	reason  error
	told    time.Time
	paces   map[string]*paced // of users, by record
}

// view is what counts once a minute. Of a user it is the same from every address: of
// those somebody may have thousands.
type view struct{ kind, as, record, actor, address string }

func viewOf(e model.Event) view {
	v := view{e.Kind, e.Detail["as"], e.Record, e.Actor.Record(), e.Actor.Address}
	if e.Actor.Kind == model.ActorUser {
		v.address = ""
	}
	return v
}

// paced is how much a user wrote to the log by reading, in the minute that began then.
type paced struct {
	began time.Time
	count int
}

// viewed is how a view went on since it was last written.
type viewed struct {
	actor   model.Actor // of the last one
	written time.Time   // zero: the next one is written
	last    time.Time
	again   int // since written
}

const (
	mostNotes     = 4096             // that wait, and views that are remembered
	viewMinute    = time.Minute      // in which a view counts once
	viewGoesOn    = 10 * time.Minute // in which ranges belong to it; links live shorter
	toldLossEvery = time.Minute
	// mostRead is how many entries a user may write by reading in a minute: more than
	// anybody reads, and little enough that nobody fills the disk with them.
	mostRead = 600
)

func newNotes(db *txn.DB) *notes {
	return &notes{db: db, wake: make(chan struct{}, 1), views: map[view]*viewed{}, paces: map[string]*paced{}}
}

// The kinds of events that count once a minute: views, and downloads on pages. What a
// program asks for with its key is counted one by one.
// So are searches, which show words of documents: who searched, and when, but not for
// what, since that is people's names.
const (
	Opened     = "file.opened"
	Downloaded = "file.downloaded"
	searchedBy = "search.asked"
)

func countable(e model.Event) bool {
	return e.Kind == Opened || e.Kind == searchedBy || e.Kind == Downloaded && e.Actor.Kind == model.ActorUser
}

// note takes down what happened now, or counts it with what is known already.
// ShouldContinue is set for the later part of a view, which counts only where none began.
func (n *notes) note(e model.Event, goesOn bool) {
	e.At = n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if countable(e) && n.counted(e, goesOn) {
		return
	}
	if e.Actor.Kind == model.ActorUser && e.Detail["as"] == "" {
		n.pace(e.Actor.Record(), e.At).count++
	}
	n.add(e)
}

// pace is how much a user wrote in the minute that goes on.
func (n *notes) pace(user string, now time.Time) *paced {
	at := n.paces[user]
	if at == nil || !txn.Within(at.began, now, time.Minute) {
		at = &paced{began: now}
		n.paces[user] = at
	}
	return at
}

// fast reports whether a user has written as much as is allowed.
func (n *notes) fast(user string) bool {
	now := n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.paces[user]
	return at != nil && txn.Within(at.began, now, time.Minute) && at.count >= mostRead
}

// add lets an event wait, if there is room for it.
func (n *notes) add(e model.Event) {
	if len(n.waiting) >= mostNotes {
		n.lost++
	} else {
		n.waiting = append(n.waiting, e)
	}
	if len(n.waiting) >= mostNotes/2 {
		select {
		case n.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// counted reports whether an event is one more of a view that is written.
func (n *notes) counted(e model.Event, goesOn bool) bool {
	key := viewOf(e)
	seen, known := n.views[key]
	if !known {
		n.makeRoom()
		seen = &viewed{}
		n.views[key] = seen
	}
	began := known && txn.Within(seen.last, e.At, viewGoesOn)
	seen.last = e.At
	if goesOn && began {
		return true
	}
	seen.actor = e.Actor
	if txn.Within(seen.written, e.At, viewMinute) {
		seen.again++
		return true
	}
	if seen.again > 0 {
		n.add(sum(key, seen))
	}
	seen.written = e.At
	return false
}

// makeRoom takes one of the views out that went on longest ago, of some: the next part
// of it is written once more, and none is ever left out.
func (n *notes) makeRoom() {
	if len(n.views) < mostNotes {
		return
	}
	var oldest view
	looked := 0
	for key, seen := range n.views { // in no order
		if looked == 0 || seen.last.Before(n.views[oldest].last) {
			oldest = key
		}
		if looked++; looked == sample {
			break
		}
	}
	if seen := n.views[oldest]; seen.again > 0 {
		n.add(sum(oldest, seen))
	}
	delete(n.views, oldest)
}

// sample is how many views are looked at for the oldest one: nobody shall wait for it.
const sample = 32

// sum makes the entry of those of a minute that were not written one by one.
func sum(key view, seen *viewed) model.Event {
	e := model.Event{At: seen.last, Actor: seen.actor, Kind: key.kind, Record: key.record, Detail: map[string]string{"count": strconv.Itoa(seen.again)}}
	if key.as != "" {
		e.Detail["as"] = key.as
	}
	seen.again, seen.written = 0, time.Time{}
	return e
}

// due reports whether take has something to give.
func (n *notes) due() bool {
	now := n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) > 0 {
		return true
	}
	for _, seen := range n.views {
		if seen.again > 0 && !txn.Within(seen.written, now, viewMinute) {
			return true
		}
	}
	return false
}

// take empties what waits, with the sums of the minutes that are over, or of all.
func (n *notes) take(all bool) []model.Event {
	now := n.db.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, seen := range n.views {
		switch {
		case seen.again > 0 && (all || !txn.Within(seen.written, now, viewMinute)):
			n.waiting = append(n.waiting, sum(key, seen))
		case seen.again == 0 && !txn.Within(seen.last, now, viewGoesOn):
			delete(n.views, key)
		}
	}
	for user, at := range n.paces {
		if !txn.Within(at.began, now, time.Minute) {
			delete(n.paces, user)
		}
	}
	waiting := n.waiting
	n.waiting = nil
	return waiting
}

// write appends the events to the log. Their times follow those of the changes that
// were written meanwhile, so that the log is in order of time as long as the clock
// is not set back.
func (n *notes) write(t *store.Tx, head time.Time, batch []model.Event) error {
	for _, e := range batch {
		if head.After(e.At) && head.Sub(e.At) < 2*viewMinute {
			e.At = head
		}
		if err := t.AddEvent(e); err != nil {
			return err
		}
		head = e.At
	}
	return nil
}

// giveBack keeps what could not be written, if it ever can be.
func (n *notes) giveBack(batch []model.Event, err error) {
	if txn.NotWritable(err) {
		n.lose(len(batch), err)
		return
	}
	n.mu.Lock()
	n.waiting = append(batch, n.waiting...)
	over := max(0, len(n.waiting)-mostNotes)
	n.waiting = n.waiting[:len(n.waiting)-over]
	n.mu.Unlock()
	n.lose(over, err)
}

// lose counts what nobody will read, and tells.
func (n *notes) lose(count int, err error) {
	n.mu.Lock()
	n.lost += count
	n.reason = err
	n.mu.Unlock()
	n.tell(false)
}

// tell says how many were lost, not more often than each minute.
func (n *notes) tell(now bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.db.Now()
	if n.lost == 0 || !now && at.Sub(n.told) < toldLossEvery {
		return
	}
	n.db.Log.Warn("views and downloads were not written to the log of events", "lost", n.lost, "error", n.reason)
	n.lost, n.told = 0, at
}
