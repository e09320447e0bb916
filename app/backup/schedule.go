package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/integrity"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// State is the outcome of the last backups in any directory, and of those in the directory
// of the settings. Only the latter count for the schedule, whether they were scheduled or
// not.
type State struct {
	Outcome
	Scheduled Outcome `json:"plan,omitzero"`
	// Archives maps directories to the IDs of the archives in them.
	Archives map[string]string `json:"archives,omitempty"`
	Next     *time.Time        `json:"-"` // when the next backup is scheduled; nil: no schedule
}

// Outcome is the last backup that succeeded and the failure since then; nil if there is
// none.
type Outcome struct {
	LastGood *Backup  `json:"good,omitempty"`
	Failed   *Failure `json:"failed,omitempty"`
}

// Failure is a backup that failed, with the reason.
type Failure struct {
	At     time.Time `json:"at"`
	To     string    `json:"to"`
	Reason string    `json:"reason"`
}

// State returns the outcome of the last backups.
func (b *Backups) State() (State, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.readState()
}

func (b *Backups) readState() (s State, err error) {
	raw, err := os.ReadFile(filepath.Join(b.Dir, integrity.BackupStateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return s, err
	case json.Unmarshal(raw, &s) != nil:
		s = State{} // an incomplete file counts as missing
	}
	if at, planned := b.settings.nextTime(s, b.Now()); planned {
		s.Next = &at
	}
	return s, nil
}

// recordOutcome stores the outcome of a backup in a directory.
func (b *Backups) recordOutcome(to string, change func(*Outcome)) {
	b.updateState(func(s *State) {
		change(&s.Outcome)
		if samePath(to, b.settings.To) {
			change(&s.Scheduled)
		}
	})
}

// updateState changes the state file. If that fails, it only logs the error.
func (b *Backups) updateState(change func(*State)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := b.readState()
	if err == nil {
		err = b.Store.CheckFile()
	}
	if err == nil {
		change(&s)
		var raw []byte
		if raw, err = json.Marshal(s); err == nil {
			err = txn.WriteFileAtomic(b.Dir, integrity.BackupStateFile, raw)
		}
	}
	if err != nil {
		b.Log.Error("what became of the backup could not be noted", "error", err)
	}
}

// clockSlack is how far a backup may lie in the future before its time is ignored, to
// allow for small clock corrections.
const clockSlack = 5 * time.Minute

// failureDelay is the delay before a failed backup is retried.
const failureDelay = 15 * time.Minute

// nextTime returns when the next scheduled backup is due. Outcomes in other directories do
// not count, because the settings may have changed.
func (s Settings) nextTime(state State, now time.Time) (at time.Time, planned bool) {
	if s.To == "" || s.Every <= 0 {
		return at, false
	}
	at = now
	// Ignore times from a clock that was ahead; otherwise the schedule would stop.
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

// scheduleInterval is how often the schedule is checked.
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
	state, err := b.State()
	if err != nil {
		b.Log.Error("backup", "error", err)
		return
	}
	if state.Next == nil || state.Next.After(b.Now()) {
		return
	}
	created, err := b.Create(ctx, model.SystemActor(), "", func(Progress) {})
	if err != nil {
		if ctx.Err() == nil && errs.KindOf(err) != errs.Locked {
			b.Log.Error("backup", "error", err)
		}
		return
	}
	b.Log.Info("backup made", "snapshot", created.Snapshot, "files", created.Files, "bytes_written", created.BytesWritten, "took",
		created.Duration.Round(time.Millisecond).String())
	if err := b.prune(ctx, created.To); err != nil && ctx.Err() == nil {
		b.Log.Error("backup: old snapshots were not removed", "error", err)
	}
}

// prune removes old snapshots according to the retention settings.
func (b *Backups) prune(ctx context.Context, to string) error {
	if b.settings.Keep == (archive.Retention{}) {
		return nil
	}
	opts, err := ArchiveOptions(b.secrets, b.settings, "")
	if err != nil {
		return err
	}
	opts.Now = b.Now
	a, err := archive.Open(to, opts)
	if err != nil {
		return err
	}
	p, err := a.Prune(ctx, b.settings.Keep, false, func(int64, int64) {})
	if len(p.Removed) > 0 {
		err = errors.Join(err, b.LogPruned(context.WithoutCancel(ctx), model.SystemActor(), to, p.Removed))
	}
	if len(p.Removed) > 0 || p.Blobs > 0 {
		b.Log.Info("old backups removed", "snapshots", len(p.Removed), "documents", p.Blobs, "bytes", p.Bytes)
	}
	return err
}

// maxNamedSnapshots limits how many snapshots an audit event names; the others are
// counted.
const maxNamedSnapshots = 50

// LogPruned writes the audit event backup.pruned for snapshots that were removed from a
// directory. Pruning needs no vault, and the backups may belong to another vault.
func (b *Backups) LogPruned(ctx context.Context, actor model.Actor, from string, removed []string) error {
	if from == "" || len(removed) == 0 {
		return errs.InvalidField("removed", "Nothing was removed.")
	}
	names := strings.Join(removed[:min(len(removed), maxNamedSnapshots)], ", ")
	if more := len(removed) - maxNamedSnapshots; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return b.Store.Update(ctx, nil, func(t *store.Tx) error {
		return b.AddEvent(t, b.Now(), actor, "backup.pruned", "", map[string]string{"from": from, "removed": names})
	})
}

// ScheduleFailure returns the failure of the schedule: the one in the directory of the
// settings since the last good backup there, or nil. Failures of manual backups elsewhere
// were reported to their caller.
func (b *Backups) ScheduleFailure(s State) *Failure {
	to := b.settings.To
	if f := s.Scheduled.Failed; f != nil && to != "" && samePath(f.To, to) {
		return f
	}
	return nil
}
