package vaulttest

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/upload"
	"deedkeep/app/vault"
)

// Doc is a document to upload.
type Doc struct {
	Name string
	Body []byte
}

// NewDoc returns a document to upload.
func NewDoc(name string, body []byte) Doc { return Doc{name, body} }

// PDFDoc returns a document with the content of PDF(1, salt).
func PDFDoc(name, salt string) Doc { return Doc{name, PDF(1, salt)} }

// TextDoc returns a document that contains text and a line feed.
func TextDoc(name, text string) Doc { return Doc{name, []byte(text + "\n")} }

// TextOfSize returns n bytes of text.
func TextOfSize(n int) []byte { return bytes.Repeat([]byte("a"), n) }

// StageDocs stages documents for an upload. They are discarded at the end of the test.
func StageDocs(t testing.TB, v *instance.Instance, docs ...Doc) *vault.StagedUpload {
	t.Helper()
	staged, err := v.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("stage an upload: %v", err)
	}
	t.Cleanup(staged.Discard)
	for _, d := range docs {
		if err := staged.Add(d.Name, bytes.NewReader(d.Body)); err != nil {
			t.Fatalf("add %s: %v", d.Name, err)
		}
	}
	return staged
}

// UploadDocs uploads documents without an abstract or folder. The vault must accept all of them.
func UploadDocs(t *testing.T, v *instance.Instance, docs ...Doc) []model.File {
	t.Helper()
	return UploadDocsAs(t, v, Operator, docs...)
}

// UploadDocsAs is like UploadDocs, but with another actor.
func UploadDocsAs(t *testing.T, v *instance.Instance, actor model.Actor, docs ...Doc) []model.File {
	t.Helper()
	uploaded, err := v.Files.Upload(t.Context(), actor, model.UploadDraft{}, StageDocs(t, v, docs...),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(uploaded.Failures) > 0 {
		t.Fatalf("upload: %v, rejected %v", err, uploaded.Failures)
	}
	return uploaded.Files
}

// BeginUpload begins a resumable upload.
func BeginUpload(t *testing.T, v *instance.Instance, plan upload.Plan) upload.Upload {
	t.Helper()
	up, err := v.Uploads.Begin(t.Context(), Operator, plan)
	if err != nil {
		t.Fatalf("begin upload: %v", err)
	}
	return up
}

// Content returns the content of a file.
func Content(t *testing.T, v *instance.Instance, id uint64) []byte {
	t.Helper()
	_, f, err := v.Files.Open(t.Context(), id)
	if err != nil {
		t.Fatalf("open file %d: %v", id, err)
	}
	defer f.Close() //nolint:errcheck // only read from
	body, err := io.ReadAll(f)
	if err != nil {
		t.Fatalf("read file %d: %v", id, err)
	}
	return body
}

// FilesUnder returns the paths of all files under a folder of the data directory dir.
func FilesUnder(t *testing.T, dir, folder string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatalf("list the files in %s: %v", folder, err)
	}
	return paths
}
