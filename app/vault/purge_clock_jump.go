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
	minClockJump  = 7 * 24 * time.Hour
	clockJumpHold = 24 * time.Hour
)

// holdsAfterClockJump reports whether the purge waits after a leap of the clock, and tells of a new
// one. The time before is that of the last event, and then of the turn before.
func (p *Purger) holdsAfterClockJump(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, before := p.v.Now(), p.lastRun
	p.lastRun = now
	if before.IsZero() {
		before = p.v.lastEventTime(ctx)
	}
	note := readServerState(p.v.Dir)
	if p.clockJumpedAt.IsZero() {
		p.clockJumpedAt = note.ClockJumpedAt
	}
	switch known := p.clockJumpedAt; {
	case !before.IsZero() && now.Sub(before) > minClockJump && (known.Before(before) || known.After(now)):
		p.clockJumpedAt = now
		p.v.Log.Warn("the clock is far ahead of what was last seen here: nothing is purged for a day; if it is wrong, set it right before",
			"now", now, "last", before, "until", now.Add(clockJumpHold))
	case known.After(now):
		p.clockJumpedAt = time.Time{} // the clock was set back
	}
	if !note.ClockJumpedAt.Equal(p.clockJumpedAt) {
		note.ClockJumpedAt = p.clockJumpedAt
		p.v.writeServerState(note)
	}
	return !p.clockJumpedAt.IsZero() && now.Before(p.clockJumpedAt.Add(clockJumpHold))
}

// lastEventTime is the time of the last event; zero when it cannot be read, which a
// verification tells.
func (v *Vault) lastEventTime(ctx context.Context) (at time.Time) {
	_ = v.Store.View(ctx, func(t *store.Tx) error {
		head, err := t.LastEvent()
		at = head.At
		return err
	})
	return at
}
