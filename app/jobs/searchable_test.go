package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

// tmpFiles returns the number of temporary files.
func tmpFiles(t *testing.T, v *instance.Instance) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(v.Dir, "tmp"))
	if err != nil {
		t.Fatalf("read the temporary folder: %v", err)
	}
	return len(entries)
}

// A searchable PDF has the words of the pages that OCR has read. Its file is removed when it is closed.
func TestSearchable(t *testing.T) {
	t.Parallel()
	v, _ := openWithOCR(t, nil)
	file := vaulttest.UploadDocs(t, v, scan(2, "a"))[0]
	vaulttest.ReadPages(t, v, file.ID)
	s, err := v.Previews.Searchable(t.Context(), vaulttest.Operator, file.ID)
	if err != nil {
		t.Fatalf("Searchable: %v", err)
	}
	content, err := io.ReadAll(s)
	if err != nil || int64(len(content)) != s.Size {
		t.Errorf("read %d bytes, %v; want %d", len(content), err, s.Size)
	}
	_, lines, _ := strings.Cut(string(content), "\n")
	words := json.NewDecoder(strings.NewReader(lines))
	for page := 1; page <= 2; page++ {
		var got sandbox.NumberedWords
		if err := words.Decode(&got); err != nil || got.Number != page || got.Page.Text() != vaulttest.FakeOCRText(page) {
			t.Errorf("words of page %d = %+v, %v", page, got, err)
		}
	}
	if n := tmpFiles(t, v); n != 1 {
		t.Errorf("%d temporary files, want 1", n)
	}
	if err := s.Close(); err != nil || tmpFiles(t, v) != 0 {
		t.Errorf("Close = %v, %d temporary files; want none", err, tmpFiles(t, v))
	}
}

func TestSearchableRejected(t *testing.T) {
	t.Parallel()
	v, _ := openWithOCR(t, func(o *instance.Options) { o.Settings.SearchablePages = 2 })
	off, _ := vaulttest.OpenVerified(t, nil)
	files := vaulttest.UploadDocs(t, v, scan(2, "a"), scan(3, "b"), vaulttest.TextDoc("note.txt", "plain words"))
	without := vaulttest.UploadDocs(t, off, scan(2, "a"))[0]
	check := func(v *instance.Instance, id uint64, kind errs.Kind, message string) {
		t.Helper()
		_, err := v.Previews.Searchable(t.Context(), vaulttest.Operator, id)
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Message, message) {
			t.Errorf("Searchable(%d) = %v, want kind %d and %q", id, err, kind, message)
		}
	}
	check(v, files[0].ID, errs.Conflict, "being processed")
	check(v, files[1].ID, errs.Conflict, "The document has 3 pages, but a searchable PDF can have at most 2.")
	check(v, files[2].ID, errs.NotFound, "can't be saved as a searchable PDF")
	check(v, 99, errs.NotFound, "Not found")
	runProcessing(t, v)
	runProcessing(t, off)
	check(v, files[0].ID, errs.Conflict, "2 of 2 are left")
	check(off, without.ID, errs.Conflict, "OCR is off")
}

// An actor can have two searchable PDFs open. Closing one allows another, and neither an error nor
// other actors count.
func TestSearchablePerActor(t *testing.T) {
	t.Parallel()
	fails := &failingReader{}
	v, _ := openWithOCR(t, func(o *instance.Options) { o.Reader = fails })
	file := vaulttest.UploadDocs(t, v, scan(1, "a"))[0]
	vaulttest.ReadPages(t, v, file.ID)
	first, second := model.Actor{Kind: model.ActorKey, ID: 1}, model.Actor{Kind: model.ActorKey, ID: 2}
	open := func(actor model.Actor) *jobs.SearchablePDF {
		t.Helper()
		s, err := v.Previews.Searchable(t.Context(), actor, file.ID)
		if err != nil {
			t.Fatalf("Searchable(%s): %v", actor.Record(), err)
		}
		return s
	}
	fails.err = sandbox.ErrBusy
	for range 3 {
		if _, err := v.Previews.Searchable(t.Context(), first, file.ID); !errors.Is(err, sandbox.ErrBusy) {
			t.Errorf("Searchable = %v, want %v", err, sandbox.ErrBusy)
		}
	}
	fails.err = nil
	opened := []*jobs.SearchablePDF{open(first), open(first), open(second)}
	_, err := v.Previews.Searchable(t.Context(), first, file.ID)
	if errs.KindOf(err) != errs.Conflict || !strings.Contains(err.Error(), "You are already downloading searchable PDFs (2)") {
		t.Errorf("the third Searchable = %v, want Conflict", err)
	}
	if n := tmpFiles(t, v); n != 3 {
		t.Errorf("%d temporary files, want 3", n)
	}
	if err := opened[0].Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	opened[0] = open(first)
	for _, s := range opened {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// failingReader can't create a searchable PDF.
type failingReader struct {
	vaulttest.Reader
	err error
}

func (r failingReader) Searchable(_ context.Context, _ sandbox.Request, _ io.ReaderAt, _ int64, out io.WriterAt,
	_ document.ExtractLimits) (int64, error) {
	if _, err := out.WriteAt([]byte("%PDF-"), 0); err != nil {
		return 0, err
	}
	return 5, r.err
}

// After an error, no temporary file is left.
func TestSearchableFails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		err  error
		kind errs.Kind
	}{
		{"damaged", document.ErrDamaged, errs.NotFound},
		{"too slow", sandbox.ErrDeadline, errs.NotFound},
		{"busy", sandbox.ErrBusy, errs.KindOf(sandbox.ErrBusy)},
		{"client left", context.Canceled, errs.Internal},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			v, _ := openWithOCR(t, func(o *instance.Options) { o.Reader = failingReader{err: row.err} })
			file := vaulttest.UploadDocs(t, v, scan(1, "a"))[0]
			vaulttest.ReadPages(t, v, file.ID)
			_, err := v.Previews.Searchable(t.Context(), model.Actor{Kind: "operator"}, file.ID)
			if !errors.Is(err, row.err) || errs.KindOf(err) != row.kind {
				t.Errorf("Searchable = %v, want kind %d", err, row.kind)
			}
			if n := tmpFiles(t, v); n != 0 {
				t.Errorf("%d temporary files, want none", n)
			}
		})
	}
}
