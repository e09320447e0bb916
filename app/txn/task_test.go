package txn_test

import (
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Backups and verifications that are started in the web interface run in the background,
// one at a time.
func TestTaskRunsInBackground(t *testing.T) {
	opts := vaulttest.Options(t)
	opts.Settings.Backup = backup.Settings{To: filepath.Join(t.TempDir(), "nas")}
	clock := vaulttest.NewClock()
	opts.Now = clock.Now
	v := vaulttest.Open(t, opts)
	started, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("a.pdf", "a"))
	go func() {
		first := true
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, "", func(backup.Progress) {
			if first {
				first = false
				close(started)
				<-release
			}
		})
		done <- err
	}()
	<-started
	vaulttest.WantKind(t, "start a second backup", v.Backups.StartCreate(t.Context(), vaulttest.Operator, ""), errs.Locked)
	if p := v.Backups.Progress(); !p.Running || p.By.Kind != "operator" {
		t.Errorf("progress of the first backup = %+v, want running, started by an operator", p)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatalf("first backup: %v", err)
	}
	clock.Advance(time.Minute)
	if err := v.Backups.StartCreate(t.Context(), vaulttest.Operator, ""); err != nil {
		t.Fatalf("start another backup: %v", err)
	}
	vaulttest.Eventually(t, "the backup ends", func() bool { return !v.Backups.Progress().Running })
	if p := v.Backups.Progress(); p.Err != nil || p.Result.Snapshot == "" || p.Ended.IsZero() {
		t.Errorf("progress after the backup = %+v, want a snapshot and an end time", p)
	}
	destination, err := v.Backups.Destination(t.Context(), vaulttest.Operator, 1)
	if err != nil || len(destination.Snapshots) != 1 || destination.More != 1 || destination.Encrypted ||
		destination.Snapshots[0].Problem != "" {
		t.Errorf("Destination() = %+v, %v; want 1 snapshot, 1 more, and no encryption", destination, err)
	}
	vaulttest.WantKind(t, "verify an unknown snapshot",
		v.Backups.StartVerify(t.Context(), vaulttest.Operator, "20000101T000000Z"), errs.NotFound)
	if err := v.Backups.StartVerify(t.Context(), vaulttest.Operator, ""); err != nil {
		t.Fatalf("start the verification: %v", err)
	}
	vaulttest.Eventually(t, "the verification ends", func() bool { return !v.Backups.VerifyProgress().Running })
	if p := v.Backups.VerifyProgress(); p.Err != nil || p.Result.Snapshots != 2 || len(p.Result.Findings) != 0 {
		t.Errorf("progress after the verification = %+v, want 2 snapshots without findings", p)
	}
}

func TestTaskIsDeniedForKeys(t *testing.T) {
	opts := vaulttest.Options(t)
	opts.Settings.Backup = backup.Settings{To: filepath.Join(t.TempDir(), "nas")}
	v := vaulttest.Open(t, opts)
	key := model.Actor{Kind: model.ActorKey, ID: 1}
	for name, start := range map[string]func() error{
		"backup":              func() error { return v.Backups.StartCreate(t.Context(), key, "") },
		"backup verification": func() error { return v.Backups.StartVerify(t.Context(), key, "") },
		"log verification":    func() error { return v.Events.StartVerify(t.Context(), key) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := start(); err == nil {
				t.Error("start with an API key succeeded, want an error")
			}
		})
	}
}

// Close cancels the running tasks and waits for them to return.
func TestTaskEndsOnClose(t *testing.T) {
	opts := vaulttest.Options(t)
	opts.Settings.Backup = backup.Settings{To: filepath.Join(t.TempDir(), "nas")}
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	if err := v.Events.StartVerify(t.Context(), vaulttest.Operator); err != nil {
		t.Fatalf("start the verification of the log: %v", err)
	}
	if err := v.Backups.StartCreate(t.Context(), vaulttest.Operator, ""); err != nil {
		t.Fatalf("start the backup: %v", err)
	}
	vaulttest.Close(t, v)
	if p := v.Backups.Progress(); p.Running {
		t.Errorf("progress of the backup after Close = %+v, want ended", p)
	}
	if p := v.Events.VerifyProgress(); p.Running {
		t.Errorf("progress of the verification after Close = %+v, want ended", p)
	}
	if err := v.Events.StartVerify(t.Context(), vaulttest.Operator); err == nil {
		t.Error("start of a verification after Close succeeded, want an error")
	}
}
