package vaulttest

import (
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/instance"
)

func NoProgress(int64, int64) {}

// taken makes a backup that must come about.
func CreateBackup(t *testing.T, v *instance.Instance, to string) backup.Backup {
	t.Helper()
	made, err := v.Backups.Create(t.Context(), Operator, to, func(backup.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// restoring are the options of a restore into a directory of its own.
func RestoreOptions(t *testing.T, from string) instance.RestoreOptions {
	t.Helper()
	opts := Options(t)
	opts.Dir = filepath.Join(t.TempDir(), "restored")
	return instance.RestoreOptions{From: from, Snapshot: archive.Latest, Archive: archive.Options{Now: time.Now}, Vault: opts, Progress: NoProgress}
}

// restored brings the newest backup back and opens the vault.
func RestoreLatest(t *testing.T, from string) *instance.Instance {
	t.Helper()
	opts := RestoreOptions(t, from)
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	return Open(t, opts.Vault)
}
