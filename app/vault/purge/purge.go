// Package purge permanently deletes what is in the trash: when it expires, or on request. It also deletes expired stored
// responses. Records under retention stay, unless an administrator lifts the retention of one with a reason.
package purge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
	"deedkeep/app/vault"
)

// Purger deletes expired records in the trash and expired stored responses.
type Purger struct {
	v *vault.Vault

	mu            sync.Mutex
	lastRun       time.Time
	clockJumpedAt time.Time // time of the last clock jump; see holdsAfterClockJump
}

// New returns the purger of a vault.
func New(v *vault.Vault) *Purger { return &Purger{v: v} }

const (
	// purgeInterval is the time between two runs. Expired records are inaccessible before
	// that, and each run that deletes documents causes a sweep.
	purgeInterval = 10 * time.Minute
	// purgeBatchSize is the number of records after which a commit ends. An abstract is
	// always purged together with all its documents.
	purgeBatchSize = 64
	// trashScanSize is the maximum number of trash entries read in one transaction.
	trashScanSize = 256
)

// Run purges at intervals until ctx is done or the store is read-only.
func (pu *Purger) Run(ctx context.Context) {
	tick := time.NewTicker(purgeInterval)
	defer tick.Stop()
	for {
		if !pu.v.ShouldContinue(ctx, "trash purge failed", pu.runOnce(ctx)) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// runOnce purges expired records. After a clock jump, it does nothing until the hold
// ends.
func (pu *Purger) runOnce(ctx context.Context) error {
	defer pu.v.Reserve.Fill(pu.v.Log)
	if pu.holdsAfterClockJump(ctx) {
		return nil
	}
	return pu.PurgeExpired(ctx)
}

// PurgeExpired permanently deletes expired records in the trash and expired stored responses. If
// it deletes any documents, it requests a sweep, which deletes the blobs that no record
// refers to.
func (pu *Purger) PurgeExpired(ctx context.Context) error {
	// Times have microsecond precision, so this is the first time at which a record is not due yet.
	due := pass{v: pu.v, actor: model.SystemActor(), before: pu.v.Now().Add(time.Microsecond - pu.v.Settings.TrashPeriod())}
	purged, err := due.run(ctx)
	if purged.records > 0 {
		pu.v.Log.Info("trash purged", "records", purged.records, "files", purged.files)
	}
	if purged.files > 0 {
		pu.v.Orphans.Notify()
	}
	if err := errors.Join(err, pu.pruneStoredResponses(ctx)); err != nil {
		return fmt.Errorf("purge trash: %w", err)
	}
	return nil
}

// pruneBatchSize is the number of stored responses that one transaction removes.
const pruneBatchSize = 256

// pruneStoredResponses removes stored responses that have expired.
func (pu *Purger) pruneStoredResponses(ctx context.Context) error {
	for ctx.Err() == nil {
		var pruned int
		before := pu.v.Now().Add(time.Microsecond - pu.v.Settings.IdempotencyPeriod)
		err := pu.v.Store.Update(ctx, func(t *store.Tx) error {
			if !t.HasStoredResponsesBefore(before) {
				return txn.ErrNoChange
			}
			return nil
		}, func(t *store.Tx) (err error) {
			pruned, err = t.PruneStoredResponses(before, pruneBatchSize)
			return err
		})
		if errors.Is(err, txn.ErrNoChange) {
			return nil
		}
		if err != nil || pruned < pruneBatchSize {
			return err
		}
	}
	return ctx.Err()
}

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
func (pu *Purger) holdsAfterClockJump(ctx context.Context) bool {
	pu.mu.Lock()
	defer pu.mu.Unlock()
	now, before := pu.v.Now(), pu.lastRun
	pu.lastRun = now
	if before.IsZero() {
		before = pu.lastEventTime(ctx)
	}
	state := pu.v.ReadServerState()
	if pu.clockJumpedAt.IsZero() {
		pu.clockJumpedAt = state.ClockJumpedAt
	}
	switch known := pu.clockJumpedAt; {
	case !before.IsZero() && now.Sub(before) > minClockJump && (known.Before(before) || known.After(now)):
		pu.clockJumpedAt = now
		pu.v.Log.Warn("the clock jumped far ahead; the trash is not purged for a day. If the clock is wrong, correct it",
			"now", now, "last", before, "until", now.Add(clockJumpHold))
	case known.After(now):
		pu.clockJumpedAt = time.Time{} // the clock was set back
	}
	if !state.ClockJumpedAt.Equal(pu.clockJumpedAt) {
		state.ClockJumpedAt = pu.clockJumpedAt
		pu.v.WriteServerState(state)
	}
	return !pu.clockJumpedAt.IsZero() && now.Before(pu.clockJumpedAt.Add(clockJumpHold))
}

// lastEventTime returns the time of the last audit entry. It returns zero if the entry
// can't be read; verification reports that error.
func (pu *Purger) lastEventTime(ctx context.Context) time.Time {
	last, _ := store.Read(ctx, pu.v.Store, (*store.Tx).LastEvent)
	return last.At
}
