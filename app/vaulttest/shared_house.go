package vaulttest

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
)

// clerk is who acts in these tests.
var Operator = model.Actor{Kind: "operator", ID: 7, Name: "intake"}

// doc is one document as it is sent.
type Doc struct {
	Name string
	Body []byte
}

func PDFDoc(name, salt string) Doc { return Doc{name, PDF(1, salt)} }

// opened opens a vault with changed options; its end is a verification without findings.
func OpenVerified(t *testing.T, change func(*instance.Options)) (*instance.Instance, instance.Options) {
	t.Helper()
	opts := Options(t)
	if change != nil {
		change(&opts)
	}
	return Open(t, opts), opts
}

// tray holds the documents; it is discarded at the end of the test at the latest.
func StageDocs(t *testing.T, v *instance.Instance, docs ...Doc) *vault.StagedUpload {
	t.Helper()
	tray, err := v.Files.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tray.Discard)
	for _, d := range docs {
		if err := tray.Add(d.Name, bytes.NewReader(d.Body)); err != nil {
			t.Fatalf("add %s: %v", d.Name, err)
		}
	}
	return tray
}

// uploadDocs files the documents in no folder, all of which must be good.
func UploadDocs(t *testing.T, v *instance.Instance, docs ...Doc) []model.File {
	t.Helper()
	filed, err := v.Files.Upload(t.Context(), Operator, model.UploadDraft{}, StageDocs(t, v, docs...), vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(filed.Failures) > 0 {
		t.Fatalf("upload: %v, refused %v", err, filed.Failures)
	}
	return filed.Files
}

// content reads a document back.
func Content(t *testing.T, v *instance.Instance, id uint64) []byte {
	t.Helper()
	_, f, err := v.Files.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	body, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// under lists the files below a folder of the data directory.
func FilesUnder(t *testing.T, dir, folder string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// nothingStays fails the test for every byte of a document on the disk.
func WantNoDocuments(t *testing.T, dir string) {
	t.Helper()
	for _, folder := range []string{"blobs", "tmp"} {
		if paths := FilesUnder(t, dir, folder); len(paths) > 0 {
			t.Errorf("%s holds %v", folder, paths)
		}
	}
}

// eventually waits for what a background goroutine does.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("never came: %s", what)
		}
	}
}

// kind fails the test unless err is of the kind.
func WantKind(t *testing.T, what string, err error, want errs.Kind) {
	t.Helper()
	if err == nil || errs.KindOf(err) != want {
		t.Errorf("%s: %v (kind %d), want kind %d", what, err, errs.KindOf(err), want)
	}
}

func IDInput(n uint64) model.IDInput {
	return model.IDInput{Present: true, Valid: true, Value: int64(n)}
}

// hookedReader is a reader whose inspections a test may hold up or break.
type HookedReader struct {
	Reader
	hook func(ctx context.Context, ext string) error
}

func NewHookedReader(hook func(ctx context.Context, ext string) error) HookedReader {
	return HookedReader{hook: hook}
}

func (h HookedReader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string, lim document.InspectLimits) (document.Report, error) {
	if err := h.hook(ctx, ext); err != nil {
		return document.Report{}, err
	}
	return h.Reader.Inspect(ctx, doc, size, ext, lim)
}

// rewrite changes a closed vault's database behind its back, everywhere it says so.
func ReplaceInDatabase(t *testing.T, dir, old, changed string) {
	t.Helper()
	path := filepath.Join(dir, "vault.db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(old) != len(changed) || !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("the database does not say %q", old)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(raw, []byte(old), []byte(changed)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func Status(t *testing.T, v *instance.Instance) instance.Status {
	t.Helper()
	s, err := v.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func Close(t *testing.T, v *instance.Instance) {
	t.Helper()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}

// keyRecord reads a key without writing what was gathered.
func StoredKey(v *instance.Instance, id uint64) (key model.Key, err error) {
	err = v.Store.View(context.Background(), func(tx *store.Tx) (err error) {
		key, err = tx.Key(id)
		return err
	})
	return key, err
}

// NewDoc returns a document to upload.
func NewDoc(name string, body []byte) Doc { return Doc{name, body} }
