package vault

import (
	"context"
	"time"

	"deedkeep/app/store"
)

const (
	// A clock set far ahead would make everything in the trash expire. Therefore nothing is
	// purged on the first day after a jump of the clock, so that an administrator can
	// correct it without losing data. The same delay applies to a vault that was not used
	// for that long or was restored from an old backup.
	minClockJump  = 7 * 24 * time.Hour
	clockJumpHold = 24 * time.Hour
)

// holdsAfterClockJump reports whether the purge is on hold after a jump of the clock,
// and logs a new jump. It compares the current time with the previous run, or with the
// last audit entry.
func (p *Purger) holdsAfterClockJump(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, before := p.v.Now(), p.lastRun
	p.lastRun = now
	if before.IsZero() {
		before = p.v.lastEventTime(ctx)
	}
	state := readServerState(p.v.Dir)
	if p.clockJumpedAt.IsZero() {
		p.clockJumpedAt = state.ClockJumpedAt
	}
	switch known := p.clockJumpedAt; {
	case !before.IsZero() && now.Sub(before) > minClockJump && (known.Before(before) || known.After(now)):
		p.clockJumpedAt = now
		p.v.Log.Warn("the clock is far ahead of what was last seen here: nothing is purged for a day; if it is wrong, set it right before",
			"now", now, "last", before, "until", now.Add(clockJumpHold))
	case known.After(now):
		p.clockJumpedAt = time.Time{} // the clock was set back
	}
	if !state.ClockJumpedAt.Equal(p.clockJumpedAt) {
		state.ClockJumpedAt = p.clockJumpedAt
		p.v.writeServerState(state)
	}
	return !p.clockJumpedAt.IsZero() && now.Before(p.clockJumpedAt.Add(clockJumpHold))
}

// lastEventTime returns the time of the last audit entry, or zero if it cannot be read;
// verification reports that.
func (v *Vault) lastEventTime(ctx context.Context) (at time.Time) {
	_ = v.Store.View(ctx, func(t *store.Tx) error {
		head, err := t.LastEvent()
		at = head.At
		return err
	})
	return at
}
