package vault

import (
	"context"
	"time"

	"deedkeep/app/store"
)

// A clock that is set far ahead makes the time of everything in the trash be over at
// once. So nothing is purged in the first day after a leap: who sets the clock right
// in it has lost nothing. A vault that was not used for so long, or that came back
// from an old backup, waits that day too.
const (
	leap      = 7 * 24 * time.Hour
	afterLeap = 24 * time.Hour
)

// rests reports whether the purge waits after a leap of the clock, and tells of a new
// one. The time before is that of the last event, and then of the turn before.
func (p *Purger) rests(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, before := p.v.Now(), p.seen
	p.seen = now
	if before.IsZero() {
		before = p.v.lastEvent(ctx)
	}
	note := readServing(p.v.Dir)
	if p.leaptAt.IsZero() {
		p.leaptAt = note.LeaptAt
	}
	switch known := p.leaptAt; {
	case !before.IsZero() && now.Sub(before) > leap && (known.Before(before) || known.After(now)):
		p.leaptAt = now
		p.v.Log.Warn("the clock is far ahead of what was last seen here: nothing is purged for a day; if it is wrong, set it right before",
			"now", now, "last", before, "until", now.Add(afterLeap))
	case known.After(now):
		p.leaptAt = time.Time{} // the clock was set back
	}
	if !note.LeaptAt.Equal(p.leaptAt) {
		note.LeaptAt = p.leaptAt
		p.v.writeServing(note)
	}
	return !p.leaptAt.IsZero() && now.Before(p.leaptAt.Add(afterLeap))
}

// lastEvent is the time of the last event; zero when it cannot be read, which a
// verification tells.
func (v *Vault) lastEvent(ctx context.Context) (at time.Time) {
	_ = v.Store.View(ctx, func(t *store.Tx) error {
		head, err := t.LastEvent()
		at = head.At
		return err
	})
	return at
}
