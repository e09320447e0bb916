package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// clockSlack is the tolerance for small clock corrections. Times of backups further in
// the future than that are ignored.
const clockSlack = 5 * time.Minute

// failureDelay is the delay before a failed backup is retried.
const failureDelay = 15 * time.Minute

// nextTime returns when the next scheduled backup is due. planned is false if there is no
// schedule. Outcomes in other directories are ignored, because the configured directory
// may have changed.
func (s Settings) nextTime(state State, now time.Time) (at time.Time, planned bool) {
	if s.To == "" || s.Every <= 0 {
		return at, false
	}
	at = now
	// Ignore times from a clock that was ahead. Otherwise, no backups would run until then.
	latest := now.Add(clockSlack)
	if good := state.Scheduled.LastGood; good != nil && !good.At.After(latest) && samePath(good.To, s.To) {
		at = good.At.Add(s.Every)
	}
	if failed := state.Scheduled.Failed; failed != nil && !failed.At.After(latest) && samePath(failed.To, s.To) {
		if retryAt := failed.At.Add(min(s.Every, failureDelay)); at.Before(retryAt) {
			at = retryAt
		}
	}
	return at, true
}

func samePath(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// scheduleInterval is the interval between checks of the schedule.
const scheduleInterval = 5 * time.Second

// Run creates scheduled backups until ctx ends.
func (b *Backups) Run(ctx context.Context) {
	if b.settings.To == "" || b.settings.Every <= 0 {
		return
	}
	tick := time.NewTicker(scheduleInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.runIfDue(ctx)
		}
	}
}

// runIfDue creates a backup if one is due, and then prunes the archive.
func (b *Backups) runIfDue(ctx context.Context) {
	state := b.State()
	if state.Next == nil || state.Next.After(b.Now()) {
		return
	}
	created, err := b.Create(ctx, model.SystemActor(), "", func(Progress) {})
	if err != nil {
		if ctx.Err() == nil && errs.KindOf(err) != errs.Locked {
			b.Log.Error("scheduled backup failed", "error", err)
		}
		return
	}
	b.Log.Info("backup created", "snapshot", created.Snapshot, "files", created.Files, "bytes_written", created.BytesWritten, "took",
		created.Duration.Round(time.Millisecond).String())
	if err := b.prune(ctx, created.To); err != nil && ctx.Err() == nil {
		b.Log.Error("old backups not deleted", "error", err)
	}
}

// prune removes old snapshots according to the configured retention.
func (b *Backups) prune(ctx context.Context, to string) error {
	if b.settings.Keep == (archive.Retention{}) {
		return nil
	}
	a, err := b.open(to)
	if err != nil {
		return err
	}
	p, err := a.Prune(ctx, b.settings.Keep, false, func(int64, int64) {})
	if len(p.Removed) > 0 {
		err = errors.Join(err, b.LogPruned(context.WithoutCancel(ctx), model.SystemActor(), to, p.Removed))
	}
	if len(p.Removed) > 0 || p.Blobs > 0 {
		b.Log.Info("old backups deleted", "snapshots", len(p.Removed), "documents", p.Blobs, "bytes", p.Bytes)
	}
	return err
}

// maxNamedSnapshots is the maximum number of snapshots named in an audit event. The
// others are only counted.
const maxNamedSnapshots = 50

// LogPruned writes the audit event backup.pruned for snapshots that were removed from a
// directory. It is separate from pruning, because pruning doesn't need a vault, and the
// backups may belong to another vault.
func (b *Backups) LogPruned(ctx context.Context, actor model.Actor, from string, removed []string) error {
	if from == "" || len(removed) == 0 {
		return errs.InvalidField("removed", "No old backups were deleted.")
	}
	names := strings.Join(removed[:min(len(removed), maxNamedSnapshots)], ", ")
	if more := len(removed) - maxNamedSnapshots; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return b.Store.Update(ctx, nil, func(t *store.Tx) error {
		return b.AddEvent(t, b.Now(), actor, "backup.pruned", "", map[string]string{"from": from, "removed": names})
	})
}

// ScheduleFailure returns the last failure to back up to the configured directory, or nil
// if a later backup there succeeded. Failed manual backups to other directories don't
// count.
func (b *Backups) ScheduleFailure(s State) *Failure {
	to := b.settings.To
	if f := s.Scheduled.Failed; f != nil && to != "" && samePath(f.To, to) {
		return f
	}
	return nil
}
