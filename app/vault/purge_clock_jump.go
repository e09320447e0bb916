package vault

import (
	"context"
	"time"

	"deedkeep/app/store"
)

const (
	// If the clock is set far ahead, everything in the trash seems to have expired. To
	// let an administrator correct the clock without losing data, nothing is purged on
	// the first day after the clock jumps ahead. The same delay applies if the vault was
	// not used for longer than minClockJump or was restored from an old backup.
	minClockJump  = 7 * 24 * time.Hour
	clockJumpHold = 24 * time.Hour
)

// holdsAfterClockJump reports whether purges are on hold because the clock has jumped
// ahead. It logs each new jump. To detect one, it compares the current time with the time
// of the previous run or, after a restart, of the last audit entry.
func (p *Purger) holdsAfterClockJump(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, before := p.v.Now(), p.lastRun
	p.lastRun = now
	if before.IsZero() {
		before = p.v.lastEventTime(ctx)
	}
	state := p.v.ReadServerState()
	if p.clockJumpedAt.IsZero() {
		p.clockJumpedAt = state.ClockJumpedAt
	}
	switch known := p.clockJumpedAt; {
	case !before.IsZero() && now.Sub(before) > minClockJump && (known.Before(before) || known.After(now)):
		p.clockJumpedAt = now
		p.v.Log.Warn("the clock jumped far ahead; the trash is not purged for a day. If the clock is wrong, correct it",
			"now", now, "last", before, "until", now.Add(clockJumpHold))
	case known.After(now):
		p.clockJumpedAt = time.Time{} // the clock was set back
	}
	if !state.ClockJumpedAt.Equal(p.clockJumpedAt) {
		state.ClockJumpedAt = p.clockJumpedAt
		p.v.WriteServerState(state)
	}
	return !p.clockJumpedAt.IsZero() && now.Before(p.clockJumpedAt.Add(clockJumpHold))
}

// lastEventTime returns the time of the last audit entry. It returns zero if the entry
// can't be read; verification reports that error.
func (v *Vault) lastEventTime(ctx context.Context) time.Time {
	last, _ := store.Read(ctx, v.Store, (*store.Tx).LastEvent)
	return last.At
}
