package backup_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// If the clock was ahead for a while, scheduled backups continue at the usual interval
// after it is corrected.
func TestScheduleAfterClockWasAhead(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	to := filepath.Join(t.TempDir(), "b")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour}
	})
	clock.Advance(365 * 24 * time.Hour)
	v.Backups.RunIfDue(t.Context())
	clock.Advance(-365 * 24 * time.Hour)
	now := clock.Now()
	v.Backups.RunIfDue(t.Context())
	if s := v.Backups.State(); s.LastGood == nil || s.LastGood.At.Sub(now).Abs() > time.Hour ||
		s.Next.Sub(now) > 25*time.Hour {
		t.Errorf("State() = %+v; want a backup now and the next within 25 hours", s)
	}
}

// The first scheduled backup runs immediately. Later ones run at the configured interval.
// A failed backup is retried sooner. Old snapshots are pruned.
func TestSchedule(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	to := filepath.Join(t.TempDir(), "disk", "b")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour, Keep: archive.Retention{Daily: 2}}
	})
	state := func() backup.State {
		t.Helper()
		s := v.Backups.State()
		if s.Next == nil {
			t.Fatalf("State() = %+v; want a next backup", s)
		}
		return s
	}
	snapshots := func() int {
		t.Helper()
		a, err := archive.Open(to, archive.Options{Now: clock.Now})
		if errors.Is(err, archive.ErrNotFound) {
			return 0
		}
		if err != nil {
			t.Fatalf("open archive: %v", err)
		}
		names, err := a.Snapshots()
		if err != nil {
			t.Fatalf("list snapshots: %v", err)
		}
		return len(names)
	}
	if err := os.WriteFile(filepath.Dir(to), nil, 0o600); err != nil { // makes backups fail
		t.Fatalf("write file: %v", err)
	}
	v.Backups.RunIfDue(t.Context())
	if s := state(); s.LastGood != nil || s.Failed == nil || !s.Next.Equal(clock.Now().Add(15*time.Minute)) {
		t.Errorf("after a failure: State() = %+v, want the failure and the next backup in 15 minutes", s)
	}
	if err := os.Remove(filepath.Dir(to)); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	v.Backups.RunIfDue(t.Context())
	if n := snapshots(); n != 0 {
		t.Errorf("snapshots before the retry = %d, want 0", n)
	}
	clock.Advance(15 * time.Minute)
	v.Backups.RunIfDue(t.Context())
	if s := state(); s.LastGood == nil || s.Failed != nil || !s.Next.Equal(clock.Now().Add(24*time.Hour)) || snapshots() != 1 {
		t.Errorf("after the first backup: State() = %+v, %d snapshots; want no failure and the next backup in 24 hours, 1", s, snapshots())
	}
	for range 4 {
		clock.Advance(24 * time.Hour)
		v.Backups.RunIfDue(t.Context())
		v.Backups.RunIfDue(t.Context())
	}
	if n := snapshots(); n != 2 {
		t.Errorf("snapshots after pruning = %d, want 2", n)
	}
}

// A running instance creates scheduled backups automatically.
func TestScheduleRuns(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "b")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Backup = backup.Settings{To: to, Every: time.Hour} })
	v.Start(time.Hour)
	vaulttest.Eventually(t, "a scheduled backup", func() bool {
		s := v.Backups.State()
		return s.LastGood != nil && s.LastGood.To == to
	})
}

// A missing or truncated state file counts as empty.
func TestStateWithoutFile(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	for _, row := range []struct{ name, content string }{{"missing", ""}, {"truncated", `{"good":`}} {
		t.Run(row.name, func(t *testing.T) {
			if row.content != "" {
				if err := os.WriteFile(filepath.Join(opts.Dir, "backup.json"), []byte(row.content), 0o600); err != nil {
					t.Fatalf("write file: %v", err)
				}
			}
			s := v.Backups.State()
			if raw, err := json.Marshal(s); err != nil || string(raw) != "{}" || s.Next != nil {
				t.Errorf("State() = %s, %v, next %v; want {}, no next backup", raw, err, s.Next)
			}
		})
	}
}

// A manual backup to another directory, successful or not, doesn't delay the schedule or
// hide the outcome of scheduled backups.
func TestManualBackupKeepsSchedule(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	dir := t.TempDir()
	to, manual, blocked := filepath.Join(dir, "scheduled"), filepath.Join(dir, "manual"), filepath.Join(dir, "file")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour}
	})
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	v.Backups.RunIfDue(t.Context())
	scheduled := clock.Now()
	wantState := func(name, lastGood string, failed bool, next time.Time) {
		t.Helper()
		s := v.Backups.State()
		if s.Next == nil || !s.Next.Equal(next) || s.LastGood.To != lastGood || (s.Failed != nil) != failed ||
			s.Scheduled.LastGood == nil || s.Scheduled.LastGood.To != to {
			raw, _ := json.Marshal(s)
			t.Errorf("%s: State() = %s, next %v; want last backup in %s, failed %v, next %v", name, raw, s.Next, lastGood, failed, next)
		}
	}
	wantState("scheduled", to, false, scheduled.Add(24*time.Hour))
	clock.Advance(time.Hour)
	vaulttest.CreateBackup(t, v, manual)
	wantState("manual", manual, false, scheduled.Add(24*time.Hour))
	clock.Advance(23*time.Hour - time.Minute)
	if _, err := v.Backups.Create(t.Context(), vaulttest.Operator, blocked, func(backup.Progress) {}); err == nil {
		t.Fatal("Create replaced a file, want an error")
	}
	wantState("failed manual", manual, true, scheduled.Add(24*time.Hour))
	vaulttest.CreateBackup(t, v, to)
	wantState("manual to the scheduled directory", to, false, clock.Now().Add(24*time.Hour))
}
