package vault

import (
	"strconv"
	"sync"
	"time"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// notes are events that wait for their commit: views and downloads, of which there
// may be many and which change nothing.
type notes struct {
	v    *Vault
	wake chan struct{}

	mu      sync.Mutex
	waiting []title.Event
	views   map[view]*viewed
	lost    int
	reason  error
	told    time.Time
	swept   time.Time // when views were last looked through for those that are over
}

// view is what counts once a minute.
type view struct{ kind, record, actor, address string }

// viewed is how a view went on since it was last written.
type viewed struct {
	actor   title.Actor // of the last one
	written time.Time   // zero: the next one is written
	last    time.Time
	again   int // since written
}

const (
	mostNotes     = 4096             // that wait, and views that are remembered
	viewMinute    = time.Minute      // in which a view counts once
	viewGoesOn    = 10 * time.Minute // in which ranges belong to it; links live shorter
	toldLossEvery = time.Minute
)

func newNotes(v *Vault) *notes {
	return &notes{v: v, wake: make(chan struct{}, 1), views: map[view]*viewed{}}
}

// opened is the kind of event that counts once a minute.
const opened = "file.opened"

// note takes down what happened now, or counts it with what is known already.
// goesOn is set for the later part of a view, which counts only where none began.
func (n *notes) note(e title.Event, goesOn bool) {
	e.At = n.v.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Kind == opened && n.counted(e, goesOn) {
		return
	}
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
func (n *notes) counted(e title.Event, goesOn bool) bool {
	key := view{e.Kind, e.Record, e.Actor.Record(), e.Actor.Address}
	seen, known := n.views[key]
	if !known {
		if n.forget(e.At); len(n.views) >= mostNotes {
			return goesOn // nobody can tell whether it began
		}
		seen = &viewed{}
		n.views[key] = seen
	}
	began := known && within(seen.last, e.At, viewGoesOn)
	seen.last = e.At
	if goesOn && began {
		return true
	}
	seen.actor = e.Actor
	if within(seen.written, e.At, viewMinute) {
		seen.again++
		return true
	}
	if seen.again > 0 {
		n.sum(key, seen)
	}
	seen.written = e.At
	return false
}

// within reports whether less than a time has passed; not when the clock was set back.
func within(from, now time.Time, less time.Duration) bool {
	passed := now.Sub(from)
	return passed >= 0 && passed < less
}

// forget makes room among the views when there is none, not more often than each
// second: nobody shall wait for it.
func (n *notes) forget(now time.Time) {
	if len(n.views) < mostNotes || within(n.swept, now, gatherEvery) {
		return
	}
	n.swept = now
	for key, seen := range n.views {
		if seen.again == 0 && !within(seen.last, now, viewGoesOn) {
			delete(n.views, key)
		}
	}
}

// sum makes the entry of those of a minute that were not written one by one.
func (n *notes) sum(key view, seen *viewed) {
	e := title.Event{At: seen.last, Actor: seen.actor, Kind: key.kind, Record: key.record, Detail: map[string]string{"count": strconv.Itoa(seen.again)}}
	n.waiting = append(n.waiting, e)
	seen.again, seen.written = 0, time.Time{}
}

// due reports whether take has something to give.
func (n *notes) due() bool {
	now := n.v.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) > 0 {
		return true
	}
	for _, seen := range n.views {
		if seen.again > 0 && !within(seen.written, now, viewMinute) {
			return true
		}
	}
	return false
}

// take empties what waits, with the sums of the minutes that are over, or of all.
func (n *notes) take(all bool) []title.Event {
	now := n.v.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, seen := range n.views {
		switch {
		case seen.again > 0 && (all || !within(seen.written, now, viewMinute)):
			n.sum(key, seen)
		case seen.again == 0 && !within(seen.last, now, viewGoesOn):
			delete(n.views, key)
		}
	}
	waiting := n.waiting
	n.waiting = nil
	return waiting
}

// write appends the events to the log. Their times follow those of the changes that
// were written meanwhile, so that the log is in order of time as long as the clock
// is not set back.
func (n *notes) write(t *store.Tx, head time.Time, batch []title.Event) error {
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
func (n *notes) giveBack(batch []title.Event, err error) {
	if takesNoWrites(err) {
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
	at := n.v.now()
	if n.lost == 0 || !now && at.Sub(n.told) < toldLossEvery {
		return
	}
	n.v.log.Warn("views and downloads were not written to the log of events", "lost", n.lost, "error", n.reason)
	n.lost, n.told = 0, at
}
