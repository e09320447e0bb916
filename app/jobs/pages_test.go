package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/model/origin"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault"
	"deedkeep/app/vault/storage"
	"deedkeep/app/vaulttest"
)

// part returns pages of a document for a new one.
func part(file uint64, pages string, rotate int64) jobs.PagesPart {
	return jobs.PagesPart{FileID: model.NewIDInput(file), Pages: model.StringInput(pages),
		Rotate: model.IDInput{Present: true, Valid: true, Value: rotate}}
}

func createFromPages(t *testing.T, v *instance.Instance, draft jobs.PagesDraft) (model.File, error) {
	t.Helper()
	created, err := v.Previews.CreateFromPages(t.Context(), vaulttest.Operator, draft, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		return model.File{}, err
	}
	return created.Files[len(created.Files)-1], nil
}

// A document of pages names its origin, has the rotation that the pages are shown with, and is retained as
// long as the documents that it was created from, which stay as they were.
func TestCreateFromPages(t *testing.T) {
	t.Parallel()
	v, _, _ := vaulttest.OpenWithRetention(t) // for 20 years
	abstract := vaulttest.CreateAbstract(t, v, scan(9, "a"))
	first, second := abstract.Files[0], vaulttest.UploadDocs(t, v, scan(2, "b"))[0]
	if _, _, err := v.Files.Turn(t.Context(), vaulttest.Operator, first.ID, "--1"); err != nil {
		t.Fatalf("Turn: %v", err)
	}
	before := vaulttest.File(t, v, first.ID)
	file, err := createFromPages(t, v, jobs.PagesDraft{Name: model.StringInput("Deed"),
		Parts: []jobs.PagesPart{part(first.ID, "3 - 4", 270), part(second.ID, "", 0)}})
	if err != nil {
		t.Fatalf("CreateFromPages: %v", err)
	}
	want := []origin.Part{{FileID: first.ID, Filename: "Scan a.pdf", Pages: "3-4", Rotate: 270},
		{FileID: second.ID, Filename: "Scan b.pdf", Pages: "1-2"}}
	if file.Filename != "Deed.pdf" || file.PageCount() != 4 || !file.Processing || !slices.Equal(file.Origin, want) {
		t.Errorf("new document = %+v, want 4 pages of %v", file, want)
	}
	if earliest := abstract.Abstract.CreatedAt.AddDate(20, 0, 0); file.RetainedUntil.Before(earliest) {
		t.Errorf("retained until %v, want %v", file.RetainedUntil, earliest)
	}
	_, content, err := v.Files.Open(t.Context(), file.ID)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	text, err := io.ReadAll(content)
	if err := errors.Join(err, content.Close()); err != nil || !strings.Contains(string(text), "[{3 0} {4 3}]") {
		t.Errorf("content %q, %v; want page 3 with 1 + 3 quarter turns, and page 4 with 3", text, err)
	}
	if now := vaulttest.File(t, v, first.ID); now.Version != before.Version || now.Digest != before.Digest || now.Filename != before.Filename {
		t.Errorf("the original is now %+v, was %+v", now, before)
	}
	entry := vaulttest.AuditEntries(t, v, 1)[0]
	if from := entry.Detail["created_from"]; entry.Kind != "file.filed" || from != "pages 3–4 of Scan a.pdf, pages 1–2 of Scan b.pdf" {
		t.Errorf("audit entry %s, created from %q", entry.Kind, from)
	}
	into, err := createFromPages(t, v, jobs.PagesDraft{Name: model.StringInput("x.pdf"), AbstractID: model.NewIDInput(abstract.Abstract.ID),
		Parts: []jobs.PagesPart{part(file.ID, "1", 0)}})
	if err != nil || into.AbstractID != abstract.Abstract.ID {
		t.Errorf("new document in the abstract = %+v, %v", into, err)
	}
	if n := tmpFiles(t, v); n != 0 {
		t.Errorf("%d temporary files, want none", n)
	}
}

func TestCreateFromPagesRejected(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Inspect.MaxPDFPages = 9; o.Settings.FilesPerAbstract = 1 })
	files := vaulttest.UploadDocs(t, v, scan(9, "a"), vaulttest.TextDoc("note.txt", "plain words"), scan(1, "b"))
	full := vaulttest.CreateAbstract(t, v, scan(1, "c"))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, files[2].ID, vault.Match{}))
	pages := func(parts ...jobs.PagesPart) jobs.PagesDraft {
		return jobs.PagesDraft{Name: model.StringInput("n"), Parts: parts}
	}
	for name, c := range map[string]struct {
		draft jobs.PagesDraft
		want  string // the invalid fields
	}{
		"nothing":          {jobs.PagesDraft{}, "name parts"},
		"not a list":       {jobs.PagesDraft{Name: model.StringInput("n"), NotArray: true}, "parts"},
		"page 10 of 9":     {pages(part(files[0].ID, "9-10", 0)), "parts.0.pages"},
		"many pages":       {pages(part(files[0].ID, "1-9", 0), part(files[0].ID, "1", 0)), "parts"},
		"odd rotation":     {pages(part(files[0].ID, "1", 45)), "parts.0.rotate"},
		"text":             {pages(part(files[1].ID, "", 0)), "parts.0.file_id"},
		"trash":            {pages(part(files[0].ID, "1", 0), part(files[2].ID, "", 0)), "parts.1.file_id"},
		"unknown document": {pages(part(99, "", 0)), "parts.0.file_id"},
		"unknown target": {jobs.PagesDraft{Name: model.StringInput("n"), AbstractID: model.NewIDInput(99),
			Parts: []jobs.PagesPart{part(files[0].ID, "1", 0)}}, "abstract_id"},
		"two targets": {jobs.PagesDraft{Name: model.StringInput("n"), AbstractID: model.NewIDInput(1), FolderID: model.NewIDInput(1),
			Parts: []jobs.PagesPart{part(files[0].ID, "1", 0)}}, "abstract_id"},
	} {
		_, err := createFromPages(t, v, c.draft)
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != errs.Invalid {
			t.Errorf("%s: error %v, want Invalid", name, err)
			continue
		}
		var fields []string
		for _, field := range e.Fields {
			fields = append(fields, field.Field)
		}
		if got := strings.Join(fields, " "); got != c.want {
			t.Errorf("%s: invalid fields %q, want %q", name, got, c.want)
		}
	}
	draft := pages(part(files[0].ID, "1", 0))
	draft.AbstractID = model.NewIDInput(full.Abstract.ID)
	if _, err := createFromPages(t, v, draft); errs.KindOf(err) != errs.Conflict {
		t.Errorf("a full abstract: error %v, want Conflict", err)
	}
}

// Pages of a damaged document don't become a new document, which would be intact. Large documents are verified first.
func TestCreateFromDamagedPages(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	opts.Settings.Scrub.VerifyFirst = 64 << 10
	v := vaulttest.OpenUnchecked(t, opts)
	defer vaulttest.Close(t, v)
	content := append(vaulttest.PDF(2, "large"), make([]byte, 1<<20)...)
	files := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("large.pdf", content), scan(2, "small"))
	for _, f := range files {
		path := filepath.Join(v.Dir, "blobs", f.Digest[:2], f.Digest)
		stored, err := os.ReadFile(path)
		vaulttest.NoError(t, err)
		stored[len(stored)/2] ^= 1
		vaulttest.NoError(t, os.Chmod(path, 0o600))
		vaulttest.NoError(t, os.WriteFile(path, stored, 0o600))
		old := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
		vaulttest.NoError(t, os.Chtimes(path, old, old))
		for _, again := range []bool{false, true} {
			_, err := createFromPages(t, v, jobs.PagesDraft{Name: model.StringInput("x"), Parts: []jobs.PagesPart{part(f.ID, "1", 0)}})
			if _, damaged := errors.AsType[*storage.DamagedError](err); !damaged {
				t.Errorf("%s, again %t: error %v, want DamagedError", f.Filename, again, err)
			}
		}
	}
	if n := tmpFiles(t, v); n != 0 {
		t.Errorf("%d temporary files, want none", n)
	}
}

// pagesReader is a reader whose Assemble calls a function first and fails with its error.
type pagesReader struct {
	vaulttest.Reader
	before func() error
}

func (r *pagesReader) Assemble(ctx context.Context, q sandbox.Request, parts []sandbox.Part, out io.WriterAt,
	limits document.ExtractLimits) (int64, error) {
	if err := r.before(); err != nil {
		return 0, err
	}
	return r.Reader.Assemble(ctx, q, parts, out, limits)
}

// If pages can't be copied, the error says why, and nothing is stored.
func TestCreateFromPagesFails(t *testing.T) {
	t.Parallel()
	reader := &pagesReader{}
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { reader.Reader, o.Reader = vaulttest.Reader{}, reader })
	file := vaulttest.UploadDocs(t, v, scan(2, "a"))[0]
	draft := jobs.PagesDraft{Name: model.StringInput("x"), Parts: []jobs.PagesPart{part(file.ID, "1", 0)}}
	for _, c := range []struct {
		err  error
		kind errs.Kind
		want string
	}{
		{document.ErrTooLarge, errs.Invalid, "the new document is too large. Choose fewer pages."},
		{document.ErrUnsupported, errs.Invalid, "a document is protected by a password."},
		{document.ErrDamaged, errs.Invalid, "the document is damaged"},
		{sandbox.ErrDeadline, errs.Invalid, "too long"},
		{errors.New("broken pipe"), errs.Internal, "broken pipe"},
	} {
		reader.before = func() error { return c.err }
		_, err := createFromPages(t, v, draft)
		text := fmt.Sprint(err)
		if problem, ok := errors.AsType[*errs.Error](err); ok && len(problem.Fields) > 0 {
			text = strings.Join(problem.Fields[0].Sentences(), " ")
		}
		if errs.KindOf(err) != c.kind || !strings.Contains(text, c.want) {
			t.Errorf("%v: got %v error %q, want %v with %q", c.err, errs.KindOf(err), text, c.kind, c.want)
		}
	}
	reader.before = func() error { return v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}) }
	if _, err := createFromPages(t, v, draft); errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "Scan a.pdf was deleted") {
		t.Errorf("original deleted while its pages were copied: error %v, want Conflict", err)
	}
	if files, err := v.Files.List(t.Context(), vault.Query{}); err != nil || len(files.Items) != 0 {
		t.Errorf("%d documents, %v; want none", len(files.Items), err)
	}
	if n := tmpFiles(t, v); n != 0 {
		t.Errorf("%d temporary files, want none", n)
	}
}
