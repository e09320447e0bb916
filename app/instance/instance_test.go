package instance_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestOpenCreatesThenReopens(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	opts.Dir = filepath.Join(opts.Dir, "new", "data")
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	fingerprint := v.Secrets.Fingerprint()
	vaulttest.Close(t, v)
	vaulttest.Close(t, v) // a second Close does nothing

	opts.Create = false
	again := vaulttest.Open(t, opts)
	if again.Secrets.Fingerprint() != fingerprint {
		t.Error("the secret changed")
	}
	if !bytes.Equal(vaulttest.Content(t, again, file.ID), vaulttest.PDF(1, "a")) {
		t.Error("the document changed")
	}
	if again.Dir != opts.Dir {
		t.Errorf("Dir = %s, want %s", again.Dir, opts.Dir)
	}
}

func TestOpenMissingDirectory(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	opts.Create = false
	empty := opts.Dir
	for _, row := range []struct{ name, dir string }{{"empty directory", empty}, {"absent directory", filepath.Join(empty, "absent")}} {
		t.Run(row.name, func(t *testing.T) {
			opts.Dir = row.dir
			_, err := instance.Open(t.Context(), opts)
			if !errors.Is(err, instance.ErrNoVault) || errs.KindOf(err) != errs.NotFound {
				t.Errorf("Open(%s): %v, want ErrNoVault of kind NotFound", row.dir, err)
			}
		})
	}
	entries, err := os.ReadDir(empty)
	if err != nil || len(entries) > 0 {
		t.Errorf("entries = %v, %v; want none", entries, err)
	}
}

func TestOpenDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // Windows has access control lists instead of file modes
	}
	opts := vaulttest.Options(t)
	if err := os.Chmod(opts.Dir, 0o755); err != nil {
		t.Fatalf("chmod: %v", err)
	}
	vaulttest.Open(t, opts)
	for path, want := range map[string]os.FileMode{"": 0o700, "vault.db": 0o600, "secret.key": 0o600, "blobs": 0o700, "tmp": 0o700} {
		info, err := os.Stat(filepath.Join(opts.Dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %q = %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestOpenSecret(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		damage  func(path string) error
		message string
	}{
		{"missing", os.Remove, "is missing"},
		{"damaged", func(path string) error { return os.WriteFile(path, []byte("deedkeep-secret-1 x"), 0o600) }, "damaged"},
		{"from another vault", func(path string) error {
			other := filepath.Join(filepath.Dir(path), "..", "other")
			if err := os.Rename(filepath.Join(other, "secret.key"), path); err != nil {
				return err
			}
			return nil
		}, "secret.key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			opts := vaulttest.Options(t)
			for _, name := range []string{"other", "own"} {
				opts.Dir = filepath.Join(root, name) // Rand continues, so the secrets differ
				v, err := instance.Open(t.Context(), opts)
				if err != nil {
					t.Fatalf("open instance: %v", err)
				}
				vaulttest.Close(t, v)
			}
			path := filepath.Join(opts.Dir, "secret.key")
			if err := tt.damage(path); err != nil {
				t.Fatalf("damage secret: %v", err)
			}
			before, _ := os.ReadFile(path) // doesn't exist if it is missing
			v, err := instance.Open(t.Context(), opts)
			if err == nil {
				vaulttest.Close(t, v)
				t.Fatal("Open succeeded, want an error")
			}
			if !strings.Contains(err.Error(), tt.message) {
				t.Errorf("Open: %v, want %q in it", err, tt.message)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the secret was replaced")
			}
		})
	}
}

// Opening a data directory that is already open fails before the tmp directory of the open instance is emptied.
func TestOpenTwice(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	_, err := instance.Open(t.Context(), opts)
	vaulttest.WantKind(t, "open again", err, errs.Locked)
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "tmp")); n != 1 {
		t.Errorf("files in tmp = %d, want 1", n)
	}
	uploaded, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(uploaded.Files) != 1 {
		t.Errorf("upload to the first instance = %d files, %v; want 1", len(uploaded.Files), err)
	}
}

func TestOpenEmptiesTmp(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	vaulttest.Close(t, v)
	if err := os.WriteFile(filepath.Join(opts.Dir, "tmp", "left"), []byte("half a deed"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	opts.Create = false // commands open the vault like this, which keeps the file
	v, err = instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	if report := vaulttest.VerifyReport(t, v); report.Leftovers != 1 {
		t.Errorf("Verify() = %+v, want 1 leftover", report)
	}
	vaulttest.Close(t, v)
	opts.Create = true
	vaulttest.Open(t, opts)
	vaulttest.WantNoDocuments(t, opts.Dir)
}

func TestClosedInstanceReturnsUnavailable(t *testing.T) {
	t.Parallel()
	v, err := instance.Open(t.Context(), vaulttest.Options(t))
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	vaulttest.Close(t, v)
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("1")}},
		vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "create order", err, errs.Unavailable)
	_, err = v.Files.Stage(t.Context())
	vaulttest.WantKind(t, "stage upload", err, errs.Unavailable)
	_, err = v.Folders.List(t.Context())
	vaulttest.WantKind(t, "list folders", err, errs.Unavailable)
}

// Open doesn't create a vault in a directory that contains other files, or documents without a database. It leaves the
// directory unchanged.
func TestOpenRejectsUsedDirectory(t *testing.T) {
	t.Parallel()
	linked := t.TempDir()
	victim := filepath.Join(linked, "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	tests := []struct {
		name    string
		setUp   func(dir string) error
		message string
	}{
		{"other files", func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "tmp", "photos"), 0o755), os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o644))
		}, "choose an empty directory"},
		{"tmp is a symlink", func(dir string) error { return os.Symlink(linked, filepath.Join(dir, "tmp")) }, "not a link"},
		{"documents without a database", func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "blobs", "ab"), 0o700),
				os.WriteFile(filepath.Join(dir, "blobs", "ab", "x"), nil, 0o400))
		}, "restore a backup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			if err := os.Chmod(opts.Dir, 0o755); err != nil {
				t.Fatalf("chmod: %v", err)
			}
			if err := tt.setUp(opts.Dir); err != nil {
				t.Fatalf("set up directory: %v", err)
			}
			before := vaulttest.FilesUnder(t, opts.Dir, ".")
			v, err := instance.Open(t.Context(), opts)
			if err == nil {
				vaulttest.Close(t, v)
			}
			if err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("Open: %v, want %q in it", err, tt.message)
			}
			if info, err := os.Stat(opts.Dir); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("mode = %v, %v; want it unchanged", info.Mode(), err)
			}
			if after := vaulttest.FilesUnder(t, opts.Dir, "."); len(after) != len(before) {
				t.Errorf("files = %v, want %v", after, before)
			}
			if _, err := os.Stat(victim); err != nil {
				t.Errorf("stat: %v", err)
			}
		})
	}
}

// If an older copy of vault.db replaces the current one, it lacks the documents uploaded since. The sweep must not
// delete their blobs.
func TestOlderDatabaseDisablesSweep(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	database := filepath.Join(opts.Dir, "vault.db")
	serve := func(name string) *instance.Instance {
		v, err := instance.Open(t.Context(), opts)
		if err != nil {
			t.Fatalf("open instance: %v", err)
		}
		v.Start(time.Hour)
		if name != "" {
			vaulttest.UploadDocs(t, v, vaulttest.PDFDoc(name, name))
		}
		return v
	}
	vaulttest.Close(t, serve("1.pdf"))
	old, err := os.ReadFile(database)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	vaulttest.Close(t, serve("2.pdf"))
	if err := os.WriteFile(database, old, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	for range 2 { // the sweep stays disabled after a restart
		v := serve("")
		if report := vaulttest.VerifyReport(t, v); report.Orphans != 1 || !report.OK() {
			t.Errorf("Verify() = %+v, want 1 orphan and no findings", report)
		}
		vaulttest.Close(t, v)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 2 {
		t.Errorf("documents = %d, want 2", n)
	}
	if err := os.Remove(filepath.Join(opts.Dir, "generation")); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	v := serve("")
	vaulttest.Eventually(t, "the sweep of the orphan", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 1 })
	vaulttest.Close(t, v)
}

// If an API key is revoked while documents are staged, it can't upload them.
func TestRevokedKeyCannotUpload(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	_, key, err := v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "scanner"})
	if err != nil {
		t.Fatalf("create API key: %v", err)
	}
	actor := model.Actor{Kind: model.ActorKey, ID: key.ID}
	staged := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	if _, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID); err != nil {
		t.Fatalf("revoke API key: %v", err)
	}
	if _, err := v.Files.Upload(t.Context(), actor, model.UploadDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{}); errs.KindOf(err) != errs.Unauthenticated {
		t.Errorf("upload: got %v, want Unauthenticated", err)
	}
	if _, err := v.Orders.Create(t.Context(), actor,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("1")}},
		vault.Idempotency[model.Order]{}); errs.KindOf(err) != errs.Unauthenticated {
		t.Errorf("create order: got %v, want Unauthenticated", err)
	}
}

// A missing secret key is not replaced. The error names the command that restores it.
func TestOpenWithMissingSecret(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	vaulttest.Close(t, v)
	path := filepath.Join(opts.Dir, "secret.key")
	vaulttest.NoError(t, os.Remove(path))
	again, err := instance.Open(t.Context(), opts)
	if err == nil {
		vaulttest.Close(t, again)
	}
	if want := "deedkeep restore latest --from DIR"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("stat secret.key: %v, want that it doesn't exist", err)
	}
}
