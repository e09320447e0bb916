package instance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// backedUp creates an instance with count documents and backs it up. It returns the instance, the documents, and the
// backup directory.
func backedUp(t *testing.T, count int) (v *instance.Instance, files []model.File, to string) {
	t.Helper()
	v, _ = vaulttest.OpenVerified(t, nil)
	for i := range count {
		files = append(files, vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", fmt.Sprint(i)))...)
	}
	to = filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	return v, files, to
}

// A restore can be interrupted at any point. The unfinished data directory can't be opened, and repeating the restore
// resumes it.
func TestRestoreResumes(t *testing.T) {
	t.Parallel()
	_, files, to := backedUp(t, 12)
	opts := vaulttest.RestoreOptions(t, to)
	for stop := range 13 {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		opts.Progress = func(int64, int64) {
			if steps == stop {
				cancel()
			}
			steps++
		}
		_, err := instance.Restore(ctx, opts)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("Restore interrupted at step %d: %v, want context canceled", stop, err)
		}
		_, err = instance.Open(t.Context(), opts.Vault)
		vaulttest.WantKind(t, "open an unfinished restore", err, errs.Conflict)
		if err == nil || !strings.Contains(err.Error(), "contains an unfinished restore") {
			t.Errorf("Open: %v, want \"contains an unfinished restore\" in it", err)
		}
	}
	opts.Progress = vaulttest.NoProgress
	r, err := instance.Restore(t.Context(), opts)
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	if r.Info.Files != 12 || r.Report.Blobs != 12 {
		t.Errorf("Restore() = %+v, want 12 files and 12 blobs", r)
	}
	v := vaulttest.Open(t, opts.Vault)
	for i, f := range files {
		if !bytes.Equal(vaulttest.Content(t, v, f.ID), vaulttest.PDF(1, fmt.Sprint(i))) {
			t.Errorf("file %d differs", f.ID)
		}
	}
	// Once a restore is complete, the directory can't be restored into again.
	_, err = instance.Restore(t.Context(), opts)
	vaulttest.WantKind(t, "restore over live data", err, errs.Conflict)
}

// If an earlier run left a damaged document, the document is restored again. The database of that run is replaced.
func TestRestoreReplacesDamagedFiles(t *testing.T) {
	t.Parallel()
	_, files, to := backedUp(t, 3)
	opts := vaulttest.RestoreOptions(t, to)
	opts.Snapshot = "latest"
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatalf("restore: %v", err)
	}
	dir := opts.Vault.Dir
	a, err := archive.Open(to, opts.Archive)
	if err != nil {
		t.Fatalf("open archive: %v", err)
	}
	names, err := a.Snapshots()
	if err != nil {
		t.Fatalf("list snapshots: %v", err)
	}
	marker := fmt.Sprintf(`{"archive":%q,"snapshot":%q,"from":"x"}`, a.ID(), names[0])
	document := filepath.Join(dir, "blobs", files[1].Digest[:2], files[1].Digest)
	body, err := os.ReadFile(document)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	body[0] ^= 1
	err = errors.Join(os.Chmod(document, 0o600), os.WriteFile(document, body, 0o600),
		os.WriteFile(filepath.Join(dir, "vault.db"), []byte("no database"), 0o600),
		os.WriteFile(filepath.Join(dir, "restore.json"), []byte(marker), 0o600))
	if err != nil {
		t.Fatalf("damage restored files: %v", err)
	}
	r, err := instance.Restore(t.Context(), opts)
	if err != nil || r.Copied != files[1].Size {
		t.Fatalf("Restore() copied %d bytes, %v; want %d", r.Copied, err, files[1].Size)
	}
	vaulttest.Open(t, opts.Vault)
}

func TestRestoreRejects(t *testing.T) {
	t.Parallel()
	live, files, to := backedUp(t, 2)
	full := func(o *instance.RestoreOptions) { o.Vault.Settings.DiskReserve = 1 << 60 }
	with := func(name string) func(o *instance.RestoreOptions) {
		return func(o *instance.RestoreOptions) {
			path := filepath.Join(o.Vault.Dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
				t.Fatalf("write %s: %v", name, err)
			}
		}
	}
	rows := []struct {
		name    string
		change  func(o *instance.RestoreOptions)
		want    errs.Kind
		message string
	}{
		{"live data", func(o *instance.RestoreOptions) { o.Vault.Dir = live.Dir }, errs.Conflict, "never overwrites live data"},
		{"documents", with("blobs/ab/x"), errs.Conflict, `it contains "blobs"`},
		{"a secret", with("secret.key"), errs.Conflict, `it contains "secret.key"`},
		{"other files", with("taxes.xls"), errs.Conflict, `it contains "taxes.xls"`},
		{"no archive", func(o *instance.RestoreOptions) { o.From = filepath.Join(t.TempDir(), "none") }, errs.NotFound, "no backup found"},
		{"no such snapshot", func(o *instance.RestoreOptions) { o.Snapshot = "20200101T000000Z" }, errs.NotFound, "no backup \"2020"},
		{"no free space", full, errs.InsufficientStorage, "MB free"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			opts := vaulttest.RestoreOptions(t, to)
			row.change(&opts)
			_, err := instance.Restore(t.Context(), opts)
			vaulttest.WantKind(t, row.name, err, row.want)
			if err == nil || !strings.Contains(err.Error(), row.message) {
				t.Errorf("got %v, want %q in it", err, row.message)
			}
		})
	}
	if !bytes.Equal(vaulttest.Content(t, live, files[0].ID), vaulttest.PDF(1, "0")) {
		t.Error("the live data changed")
	}
}

// A directory that contains only settings, OCR languages, a README, and hidden files counts as empty.
func TestRestoreKeepsSettings(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 1)
	opts := vaulttest.RestoreOptions(t, to)
	if err := os.MkdirAll(filepath.Join(opts.Vault.Dir, "languages"), 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	for _, name := range []string{"config.yaml", "languages/spa.traineddata", "README.md", ".gitignore"} {
		if err := os.WriteFile(filepath.Join(opts.Vault.Dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatalf("restore: %v", err)
	}
	if raw, err := os.ReadFile(filepath.Join(opts.Vault.Dir, "config.yaml")); err != nil || string(raw) != "mine" {
		t.Errorf("config.yaml = %q, %v; want it unchanged", raw, err)
	}
}

// Restoring from a damaged archive fails and doesn't leave a database.
func TestRestoreDamagedArchive(t *testing.T) {
	t.Parallel()
	_, _, intact := backedUp(t, 3)
	for name, pattern := range map[string]string{"document": "blobs/*/*", "database": "snapshots/*.db",
		"manifest": "snapshots/*.manifest", "head": "deedkeep-backup"} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "b")
			if err := os.CopyFS(to, os.DirFS(intact)); err != nil {
				t.Fatalf("copy directory: %v", err)
			}
			found, err := filepath.Glob(filepath.Join(to, filepath.FromSlash(pattern)))
			if err != nil || len(found) == 0 {
				t.Fatalf("files that match %s = %v, %v; want at least one", pattern, found, err)
			}
			raw, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			raw[len(raw)/2] ^= 4
			if err := os.WriteFile(found[0], raw, 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			opts := vaulttest.RestoreOptions(t, to)
			if _, err = instance.Restore(t.Context(), opts); !errors.Is(err, archive.ErrDamaged) {
				t.Errorf("Restore: %v, want ErrDamaged", err)
			}
			if _, err := os.Stat(filepath.Join(opts.Vault.Dir, "vault.db")); !os.IsNotExist(err) {
				t.Errorf("vault.db: %v, want that it doesn't exist", err)
			}
			result, err := instance.TestRestore(t.Context(), filepath.Join(t.TempDir(), "drill"), vaulttest.RestoreOptions(t, to))
			if err != nil || result.OK() {
				t.Errorf("TestRestore() = %+v, %v; want findings", result, err)
			}
		})
	}
}

func TestRestoreTest(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 3)
	scratch := filepath.Join(t.TempDir(), "drill")
	for range 2 {
		d, err := instance.TestRestore(t.Context(), scratch, vaulttest.RestoreOptions(t, to))
		if err != nil || !d.OK() || !strings.HasPrefix(d.Info.Snapshot, "2026") || d.Report.Files != 3 || d.Report.Blobs != 3 {
			t.Errorf("TestRestore() = %+v, %v; want 3 files and 3 blobs of a snapshot of 2026", d, err)
		}
		if _, err := os.Stat(scratch); !os.IsNotExist(err) {
			t.Error("the scratch directory still exists")
		}
		// The next restore test removes the files that a killed restore test left behind.
		err = errors.Join(os.MkdirAll(filepath.Join(scratch, "data", "blobs"), 0o700),
			os.WriteFile(filepath.Join(scratch, "deedkeep-drill"), nil, 0o600))
		if err != nil {
			t.Fatalf("create scratch directory: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	opts := vaulttest.RestoreOptions(t, to)
	opts.Progress = func(int64, int64) { cancel() }
	if _, err := instance.TestRestore(ctx, scratch, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v, want context canceled", err)
	}
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		t.Error("the scratch directory still exists")
	}
}

// Neither the data directory nor the archive contains paths of this computer.
func TestArchiveContainsNoPaths(t *testing.T) {
	t.Parallel()
	v, _, to := backedUp(t, 1)
	for _, path := range slices.Sorted(maps.Values(map[int]string{0: v.Dir, 1: to})) {
		for _, file := range vaulttest.FilesUnder(t, to, ".") {
			raw, err := os.ReadFile(file)
			if err != nil || bytes.Contains(raw, []byte(path)) {
				t.Errorf("%s contains the path %s, or can't be read: %v", file, path, err)
			}
		}
	}
}

// A restore that is interrupted between two documents doesn't leave any staged files.
func TestInterruptedRestoreLeavesNoStagedFiles(t *testing.T) {
	t.Parallel()
	_, _, to := backedUp(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	opts := vaulttest.RestoreOptions(t, to)
	opts.Progress = func(done, _ int64) {
		if done > 0 {
			cancel()
		}
	}
	if _, err := instance.Restore(ctx, opts); !errors.Is(err, context.Canceled) {
		t.Fatalf("Restore: %v, want context canceled", err)
	}
	if left := vaulttest.FilesUnder(t, opts.Vault.Dir, "tmp"); len(left) > 0 {
		t.Errorf("files in tmp = %v, want none", left)
	}
}

// A restore removes sessions and stored responses.
func TestRestoreRemovesSessionsAndResponses(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	p.SignIn(t, "kim")
	err := p.Store.Update(t.Context(), nil, func(tx *store.Tx) error {
		return tx.PutStoredResponse([32]byte{7}, model.StoredResponse{Status: 201, Body: []byte("{}"), At: p.Clock.Now()})
	})
	if err != nil {
		t.Fatalf("update store: %v", err)
	}
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, p.Instance, to)
	v := vaulttest.RestoreLatest(t, to)
	found, sessions := true, 0
	err = v.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		_, found, err = tx.StoredResponse([32]byte{7})
		tx.EachSession(func(model.Session) bool { sessions++; return true })
		return err
	})
	if found || sessions != 0 || err != nil {
		t.Errorf("after a restore: stored response found %v, %d sessions, error %v; want false, 0, nil", found, sessions, err)
	}
}
