package backup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/integrity"
	"deedkeep/app/model"
	"deedkeep/app/txn"
)

// State is what became of the last snapshots, wherever they went, and of those
// in the plan's directory, by hand or not, which alone count for the plan.
type State struct {
	Outcome
	Scheduled Outcome `json:"plan,omitzero"`
	// Archives are the IDs of those that lie in the directories that were used.
	Archives map[string]string `json:"archives,omitempty"`
	Next     *time.Time        `json:"-"` // when the plan makes the next one
}

// Outcome is the last good snapshot, and what failed since; nil is none.
type Outcome struct {
	LastGood *Backup  `json:"good,omitempty"`
	Failed   *Failure `json:"failed,omitempty"`
}

// Failure is a snapshot that was not made, and why.
type Failure struct {
	At     time.Time `json:"at"`
	To     string    `json:"to"`
	Reason string    `json:"reason"`
}

// State reads what became of the last snapshots.
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
		s = State{} // a note that was cut is as good as none
	}
	if at, planned := b.settings.nextTime(s, b.Now()); planned {
		s.Next = &at
	}
	return s, nil
}

// recordOutcome notes what became of a snapshot in a directory. A note that cannot be
// written is no reason to fail.
func (b *Backups) recordOutcome(to string, change func(*Outcome)) {
	b.updateState(func(s *State) {
		change(&s.Outcome)
		if samePath(to, b.settings.To) {
			change(&s.Scheduled)
		}
	})
}

// updateState changes the file.
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

// clockSlack is how far a clock is set back without anybody's noticing.
const clockSlack = 5 * time.Minute

// failureDelay is when a planned snapshot that failed is tried again.
const failureDelay = 15 * time.Minute

// nextTime is when the plan makes the next snapshot, given what became of the last in its
// directory, which may have been another one then.
func (s Settings) nextTime(state State, now time.Time) (at time.Time, planned bool) {
	if s.To == "" || s.Every <= 0 {
		return at, false
	}
	at = now
	// What was noted under a clock that was ahead says nothing: the plan goes on.
	latest := now.Add(clockSlack)
	if good := state.Scheduled.LastGood; good != nil && !good.At.After(latest) && samePath(good.To, s.To) {
		at = good.At.Add(s.Every)
	}
	if failed := state.Scheduled.Failed; failed != nil && !failed.At.After(latest) && samePath(failed.To, s.To) {
		if again := failed.At.Add(min(s.Every, failureDelay)); at.Before(again) {
			at = again
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

// scheduleInterval is how often the plan is looked at.
const scheduleInterval = 5 * time.Second

// run makes the snapshots of the plan.
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

// runIfDue makes one snapshot when its time has come, and thins out the archive.
func (b *Backups) runIfDue(ctx context.Context) {
	state, err := b.State()
	if err != nil {
		b.Log.Error("backup", "error", err)
		return
	}
	if state.Next == nil || state.Next.After(b.Now()) {
		return
	}
	made, err := b.Create(ctx, model.SystemActor(), "", func(Progress) {})
	if err != nil {
		if ctx.Err() == nil && errs.KindOf(err) != errs.Locked {
			b.Log.Error("backup", "error", err)
		}
		return
	}
	b.Log.Info("backup made", "snapshot", made.Snapshot, "files", made.Files, "bytes_written", made.BytesWritten, "took", made.Duration.Round(time.Millisecond).String())
	if err := b.prune(ctx, made.To); err != nil && ctx.Err() == nil {
		b.Log.Error("backup: old snapshots were not removed", "error", err)
	}
}

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
