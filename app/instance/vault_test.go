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

func TestOpenMakesThenKeeps(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	opts.Dir = filepath.Join(opts.Dir, "new", "data")
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	made := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	mark := v.Secrets.Fingerprint()
	vaulttest.Close(t, v)
	vaulttest.Close(t, v) // twice is harmless

	opts.Create = false
	again := vaulttest.Open(t, opts)
	if again.Secrets.Fingerprint() != mark {
		t.Error("the secret changed")
	}
	if !bytes.Equal(vaulttest.Content(t, again, made.ID), vaulttest.PDF(1, "a")) {
		t.Error("the document changed")
	}
	if again.Dir != opts.Dir {
		t.Errorf("Dir is %s", again.Dir)
	}
}

func TestOpenNothingThere(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	opts.Create = false
	for _, dir := range []string{opts.Dir, filepath.Join(opts.Dir, "absent")} {
		opts.Dir = dir
		_, err := instance.Open(t.Context(), opts)
		if !errors.Is(err, instance.ErrNoVault) || errs.KindOf(err) != errs.NotFound {
			t.Errorf("%v", err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(opts.Dir))
	if err != nil || len(entries) > 0 {
		t.Errorf("made %v, %v", entries, err)
	}
}

func TestOpenDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // an access list there, not a mode
	}
	opts := vaulttest.Options(t)
	if err := os.Chmod(opts.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	vaulttest.Open(t, opts)
	for path, want := range map[string]os.FileMode{"": 0o700, "vault.db": 0o600, "secret.key": 0o600, "blobs": 0o700, "tmp": 0o700} {
		info, err := os.Stat(filepath.Join(opts.Dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v, want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestOpenSecret(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(path string) error
		says  string
	}{
		{"lost", os.Remove, "is missing"},
		{"damaged", func(path string) error { return os.WriteFile(path, []byte("deedkeep-secret-1 x"), 0o600) }, "damaged"},
		{"of another vault", func(path string) error {
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
				opts.Dir = filepath.Join(root, name) // the one Chance goes on: another secret
				v, err := instance.Open(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				vaulttest.Close(t, v)
			}
			path := filepath.Join(opts.Dir, "secret.key")
			if err := tt.spoil(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path) // absent after a loss
			v, err := instance.Open(t.Context(), opts)
			if err == nil {
				vaulttest.Close(t, v)
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("says %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the secret was replaced")
			}
		})
	}
}

// The second opener must find out before it empties the first one's tmp.
func TestOpenTwice(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	tray := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	second := opts
	_, err := instance.Open(t.Context(), second)
	vaulttest.WantKind(t, "second opener", err, errs.Locked)
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "tmp")); n != 1 {
		t.Errorf("%d files in tmp", n)
	}
	filed, err := v.Files.Upload(t.Context(), vaulttest.Operator, model.UploadDraft{}, tray, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(filed.Files) != 1 {
		t.Errorf("the first cannot go on: %v", err)
	}
}

func TestOpenEmptiesTmp(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	vaulttest.Close(t, v)
	if err := os.WriteFile(filepath.Join(opts.Dir, "tmp", "left"), []byte("half a deed"), 0o600); err != nil {
		t.Fatal(err)
	}
	opts.Create = false // a command looks, and leaves it
	v, err = instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if report := vaulttest.VerifyReport(t, v); report.Leftovers != 1 {
		t.Errorf("leftovers: %+v", report)
	}
	vaulttest.Close(t, v)
	opts.Create = true
	vaulttest.Open(t, opts)
	vaulttest.WantNoDocuments(t, opts.Dir)
}

func TestClosedVaultRefuses(t *testing.T) {
	t.Parallel()
	v, err := instance.Open(t.Context(), vaulttest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	vaulttest.Close(t, v)
	_, err = v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("1")}, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "order", err, errs.Unavailable)
	_, err = v.Files.Stage(t.Context())
	vaulttest.WantKind(t, "tray", err, errs.Unavailable)
	_, err = v.Folders.List(t.Context())
	vaulttest.WantKind(t, "list", err, errs.Unavailable)
}

// A new vault is made neither among somebody's files nor on top of documents whose
// database is gone; and nothing of either is touched.
func TestOpenSurveysTheDirectory(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	victim := filepath.Join(elsewhere, "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		lay  func(dir string) error
		says string
	}{
		{"somebody's files", func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "tmp", "photos"), 0o755), os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o644))
		}, "choose an empty directory"},
		{"tmp is a link", func(dir string) error { return os.Symlink(elsewhere, filepath.Join(dir, "tmp")) }, "no link"},
		{"documents without their database", func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "blobs", "ab"), 0o700), os.WriteFile(filepath.Join(dir, "blobs", "ab", "x"), nil, 0o400))
		}, "put it back from a backup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			if err := os.Chmod(opts.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := tt.lay(opts.Dir); err != nil {
				t.Fatal(err)
			}
			before := vaulttest.FilesUnder(t, opts.Dir, ".")
			v, err := instance.Open(t.Context(), opts)
			if err == nil {
				vaulttest.Close(t, v)
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("said %v", err)
			}
			if info, err := os.Stat(opts.Dir); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if after := vaulttest.FilesUnder(t, opts.Dir, "."); len(after) != len(before) {
				t.Errorf("before %v, after %v", before, after)
			}
			if _, err := os.Stat(victim); err != nil {
				t.Error(err)
			}
		})
	}
}

// An older vault.db that was put back does not know the documents filed since: they
// must not be swept by its word.
func TestAnOlderDatabaseSweepsNothing(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	database := filepath.Join(opts.Dir, "vault.db")
	serve := func(name string) *instance.Instance {
		v, err := instance.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
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
		t.Fatal(err)
	}
	vaulttest.Close(t, serve("2.pdf"))
	if err := os.WriteFile(database, old, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and not at the next start either
		v := serve("")
		if report := vaulttest.VerifyReport(t, v); report.Orphans != 1 || !report.OK() {
			t.Errorf("%+v", report)
		}
		vaulttest.Close(t, v)
	}
	if n := len(vaulttest.FilesUnder(t, opts.Dir, "blobs")); n != 2 {
		t.Errorf("%d documents are left", n)
	}
	if err := os.Remove(filepath.Join(opts.Dir, "generation")); err != nil {
		t.Fatal(err)
	}
	v := serve("")
	vaulttest.Eventually(t, "the sweep of what was given up", func() bool { return len(vaulttest.FilesUnder(t, opts.Dir, "blobs")) == 1 })
	vaulttest.Close(t, v)
}

// A key that ended while documents arrived files none.
func TestAKeyThatEndedFilesNothing(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	_, key, err := v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "scanner"})
	if err != nil {
		t.Fatal(err)
	}
	actor := model.Actor{Kind: model.ActorKey, ID: key.ID}
	begun := vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	if _, err := v.Keys.Revoke(t.Context(), vaulttest.Operator, key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Files.Upload(t.Context(), actor, model.UploadDraft{}, begun, vault.Idempotency[vault.AbstractWithFiles]{}); errs.KindOf(err) != errs.Unauthenticated {
		t.Errorf("upload: %v", err)
	}
	if _, err := v.Orders.Create(t.Context(), actor, model.OrderDraft{Number: model.StringInput("1")}, vault.Idempotency[model.Order]{}); errs.KindOf(err) != errs.Unauthenticated {
		t.Errorf("order: %v", err)
	}
}

// A lost secret is not replaced, and the error names the command that brings it back.
func TestOpenWithoutItsSecret(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
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
		t.Errorf("secret.key: got %v, want none", err)
	}
}
