package vaulttest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/blobstore"
	"deedkeep/app/durable"
	"deedkeep/app/instance"
	"deedkeep/app/store"
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

// AddNewerSnapshot adds a snapshot to the archive in the directory to, as a newer version of deedkeep would: the content
// of the latest one, with the next schema. It returns the name.
func AddNewerSnapshot(t *testing.T, v *instance.Instance, to string) string {
	t.Helper()
	opts, err := backup.ArchiveOptions(v.Secrets, backup.Settings{}, "")
	opts.Now, opts.Rand = v.Now, Rand()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("add snapshot: %v", err)
		}
	}
	must(err)
	a, err := archive.Open(to, opts)
	must(err)
	var entries []archive.Entry
	info, err := a.Manifest(archive.Latest, func(e archive.Entry) error { entries = append(entries, e); return nil })
	must(err)
	path := filepath.Join(t.TempDir(), "vault.db")
	must(a.ExtractDatabase(t.Context(), info, path))
	s, err := a.NewSnapshot(t.Context(), nil)
	must(err)
	info.Schema, info.Version = store.Schema+1, "v99.0.0"
	digests := make([]blobstore.Digest, len(entries))
	for i, e := range entries {
		digests[i], err = blobstore.ParseDigest(e.Digest)
		must(err)
		s.Plan(digests[i], e.Size)
	}
	must(s.Start(t.Context(), info, path))
	for i, e := range entries {
		must(s.Add(t.Context(), digests[i], e.Size, func() (io.ReadCloser, error) { return a.Blob(t.Context(), e) }))
	}
	info, _, err = s.Commit(t.Context())
	must(errors.Join(err, s.Close()))
	return info.Snapshot
}

// RestoreOptions returns the options for restoring the latest backup in the directory from to a new data directory.
func RestoreOptions(t *testing.T, from string) instance.RestoreOptions {
	t.Helper()
	opts := Options(t)
	opts.Dir = filepath.Join(t.TempDir(), "restored")
	return instance.RestoreOptions{From: from, Snapshot: archive.Latest, Archive: archive.Options{Now: time.Now}, Vault: opts,
		Progress: NoProgress}
}

// OldVault restores the backup of an older schema into dir, and keeps its database as it was. It returns the options to
// open the data directory with.
func OldVault(t *testing.T, fixture, dir string) instance.Options {
	t.Helper()
	from := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(from, os.DirFS(fixture)); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	opts := RestoreOptions(t, from)
	opts.Vault.Dir = dir
	restored, err := instance.Restore(t.Context(), opts)
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	a, err := archive.Open(from, opts.Archive)
	path := filepath.Join(dir, "vault.db")
	if err == nil {
		err = a.ExtractDatabase(t.Context(), restored.Info, path+".old")
	}
	if err = errors.Join(err, durable.Rename(path+".old", path), os.Remove(path+".clean")); err != nil {
		t.Fatalf("replace the database: %v", err)
	}
	return opts.Vault
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
