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

// BackupState is what became of the last snapshots, wherever they went, and of those
// in the plan's directory, by hand or not, which alone count for the plan.
type BackupState struct {
	BackupOutcome
	Plan BackupOutcome `json:"plan,omitzero"`
	// Archives are the IDs of those that lie in the directories that were used.
	Archives map[string]string `json:"archives,omitempty"`
	Next     *time.Time        `json:"-"` // when the plan makes the next one
}

// BackupOutcome is the last good snapshot, and what failed since; nil is none.
type BackupOutcome struct {
	Good   *Backup        `json:"good,omitempty"`
	Failed *BackupFailure `json:"failed,omitempty"`
}

// BackupFailure is a snapshot that was not made, and why.
type BackupFailure struct {
	At     time.Time `json:"at"`
	To     string    `json:"to"`
	Reason string    `json:"reason"`
}

// State reads what became of the last snapshots.
func (b *Backups) State() (BackupState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state()
}

func (b *Backups) state() (s BackupState, err error) {
	raw, err := os.ReadFile(filepath.Join(b.Dir, integrity.BackupFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return s, err
	case json.Unmarshal(raw, &s) != nil:
		s = BackupState{} // a note that was cut is as good as none
	}
	if at, planned := b.set.next(s, b.Now()); planned {
		s.Next = &at
	}
	return s, nil
}

// remember notes what became of a snapshot in a directory. A note that cannot be
// written is no reason to fail.
func (b *Backups) remember(to string, change func(*BackupOutcome)) {
	b.note(func(s *BackupState) {
		change(&s.BackupOutcome)
		if samePath(to, b.set.To) {
			change(&s.Plan)
		}
	})
}

// note changes the file.
func (b *Backups) note(change func(*BackupState)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := b.state()
	if err == nil {
		err = b.Store.CheckFile()
	}
	if err == nil {
		change(&s)
		var raw []byte
		if raw, err = json.Marshal(s); err == nil {
			err = txn.WriteFileAtomic(b.Dir, integrity.BackupFile, raw)
		}
	}
	if err != nil {
		b.Log.Error("what became of the backup could not be noted", "error", err)
	}
}

// clockSlack is how far a clock is set back without anybody's noticing.
const clockSlack = 5 * time.Minute

// afterFailure is when a planned snapshot that failed is tried again.
const afterFailure = 15 * time.Minute

// next is when the plan makes the next snapshot, given what became of the last in its
// directory, which may have been another one then.
func (s BackupSettings) next(state BackupState, now time.Time) (at time.Time, planned bool) {
	if s.To == "" || s.Every <= 0 {
		return at, false
	}
	at = now
	// What was noted under a clock that was ahead says nothing: the plan goes on.
	latest := now.Add(clockSlack)
	if good := state.Plan.Good; good != nil && !good.At.After(latest) && samePath(good.To, s.To) {
		at = good.At.Add(s.Every)
	}
	if failed := state.Plan.Failed; failed != nil && !failed.At.After(latest) && samePath(failed.To, s.To) {
		if again := failed.At.Add(min(s.Every, afterFailure)); at.Before(again) {
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

// planEvery is how often the plan is looked at.
const planEvery = 5 * time.Second

// run makes the snapshots of the plan.
func (b *Backups) Run(ctx context.Context) {
	if b.set.To == "" || b.set.Every <= 0 {
		return
	}
	tick := time.NewTicker(planEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.turn(ctx)
		}
	}
}

// turn makes one snapshot when its time has come, and thins out the archive.
func (b *Backups) turn(ctx context.Context) {
	state, err := b.State()
	if err != nil {
		b.Log.Error("backup", "error", err)
		return
	}
	if state.Next == nil || state.Next.After(b.Now()) {
		return
	}
	made, err := b.Create(ctx, model.SystemActor(), "", func(BackupProgress) {})
	if err != nil {
		if ctx.Err() == nil && errs.KindOf(err) != errs.Locked {
			b.Log.Error("backup", "error", err)
		}
		return
	}
	b.Log.Info("backup made", "snapshot", made.Snapshot, "files", made.Files, "bytes_written", made.BytesWritten, "took", made.Took.Round(time.Millisecond).String())
	if err := b.thin(ctx, made.To); err != nil && ctx.Err() == nil {
		b.Log.Error("backup: old snapshots were not removed", "error", err)
	}
}

func (b *Backups) thin(ctx context.Context, to string) error {
	if b.set.Keep == (archive.Retention{}) {
		return nil
	}
	opts, err := ArchiveOptions(b.secrets, b.set, "")
	if err != nil {
		return err
	}
	opts.Now = b.Now
	a, err := archive.Open(to, opts)
	if err != nil {
		return err
	}
	p, err := a.Prune(ctx, b.set.Keep, false, func(int64, int64) {})
	if len(p.Removed) > 0 {
		err = errors.Join(err, b.Pruned(context.WithoutCancel(ctx), model.SystemActor(), to, p.Removed))
	}
	if len(p.Removed) > 0 || p.Blobs > 0 {
		b.Log.Info("old backups removed", "snapshots", len(p.Removed), "documents", p.Blobs, "bytes", p.Bytes)
	}
	return err
}
