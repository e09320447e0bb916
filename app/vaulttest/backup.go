package vaulttest

import (
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/instance"
)

// NoProgress is a progress function for Restore that does nothing.
func NoProgress(int64, int64) {}

// CreateBackup creates a backup in the directory to.
func CreateBackup(t *testing.T, v *instance.Instance, to string) backup.Backup {
	t.Helper()
	created, err := v.Backups.Create(t.Context(), Operator, to, func(backup.Progress) {})
	if err != nil {
		t.Fatalf("create backup: %v", err)
	}
	return created
}

// RestoreOptions returns the options for restoring the latest backup in the directory from to a new data directory.
func RestoreOptions(t *testing.T, from string) instance.RestoreOptions {
	t.Helper()
	opts := Options(t)
	opts.Dir = filepath.Join(t.TempDir(), "restored")
	return instance.RestoreOptions{From: from, Snapshot: archive.Latest, Archive: archive.Options{Now: time.Now}, Vault: opts,
		Progress: NoProgress}
}

// RestoreLatest restores the latest backup in the directory from and opens the restored vault.
func RestoreLatest(t *testing.T, from string) *instance.Instance {
	t.Helper()
	opts := RestoreOptions(t, from)
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatalf("restore: %v", err)
	}
	return Open(t, opts.Vault)
}
