package document_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
)

// fakePDF is a PDF fakePDF that answers as it is told to.
type fakePDF struct {
	document.PDF // not called: nil
	pages        int
	heavy        bool
	heavyErr     error
	openErr      error
	asked        bool   // for scans
	opened       int    // and not closed
	stop         func() // called when asked for scans
}

func (e *fakePDF) Open(context.Context, io.ReaderAt, int64) (document.PDF, error) {
	if e.openErr != nil {
		return nil, e.openErr
	}
	e.opened++
	return e, nil
}

func (e *fakePDF) Pages() int { return e.pages }

func (e *fakePDF) ImageHeavy(context.Context) (bool, error) {
	e.asked = true
	if e.stop != nil {
		e.stop()
	}
	return e.heavy, e.heavyErr
}

func (e *fakePDF) Close(ctx context.Context) error {
	if ctx.Err() == nil {
		e.opened--
	}
	return ctx.Err()
}

// judge inspects bytes under an extension with the default limits and an fakePDF
// that finds one page.
func judge(t testing.TB, ext string, doc []byte) document.Report {
	t.Helper()
	report, err := document.Inspect(t.Context(), bytes.NewReader(doc), int64(len(doc)), ext, &fakePDF{pages: 1}, document.DefaultInspectLimits())
	if err != nil {
		t.Fatalf("inspect .%s: %v", ext, err)
	}
	return report
}

// row is one document and what is to become of it under an extension.
type row struct {
	name string
	ext  string
	doc  []byte
	want string // a refusal; "" accepted, "mismatch" that of the extension
}

const mismatch = "mismatch"

func judgeAll(t *testing.T, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			want := row.want
			if want == mismatch {
				want = document.ReasonMismatch(row.ext)
			}
			report := judge(t, row.ext, row.doc)
			if report.Rejection != want {
				t.Errorf("refusal %q, want %q", report.Rejection, want)
			}
			if unknown := row.want == mismatch; (report.MIME == "") != unknown {
				t.Errorf("mime %q with refusal %q", report.MIME, report.Rejection)
			}
		})
	}
}

// TestSamples runs every sample document, the engine answering as the manifest says a
// real one does.
func TestSamples(t *testing.T) {
	for _, s := range vaulttest.Samples(t) {
		t.Run(s.Path, func(t *testing.T) {
			doc, err := os.ReadFile(s.File)
			if err != nil {
				t.Fatalf("os.ReadFile: %v", err)
			}
			sample(t, s, doc)
		})
	}
}

func sample(t *testing.T, s vaulttest.Sample, doc []byte) {
	engine := &fakePDF{pages: s.Pages, heavy: strings.HasPrefix(s.Refusal, "Image-heavy")}
	switch s.Refusal {
	case document.ReasonPDFPassword:
		engine.openErr = pdf.ErrPassword
	case document.ReasonPDFUnreadable:
		engine.openErr = pdf.ErrUnreadable
	}
	ext, _ := document.Extension(s.Path)
	report, err := document.Inspect(t.Context(), bytes.NewReader(doc), int64(len(doc)), ext, engine, document.DefaultInspectLimits())
	if err != nil {
		t.Fatalf("document.Inspect: %v", err)
	}
	if report.Rejection != s.Refusal || (report.Rejection == "") != s.Accept {
		t.Errorf("refusal %q, want %q (accepted: %v)", report.Rejection, s.Refusal, s.Accept)
	}
	if !s.Accept {
		return
	}
	if mime, _, _ := strings.Cut(s.MIME, ";"); report.MIME != mime {
		t.Errorf("mime %q, want %q", report.MIME, mime)
	}
	if (report.Pages == nil) != (s.Pages == 0) || report.Pages != nil && *report.Pages != s.Pages {
		t.Errorf("pages %v, want %d", report.Pages, s.Pages)
	}
}

// TestOrder holds the order of checks to API.md's table.
func TestOrder(t *testing.T) {
	for _, row := range []struct {
		name, ext, doc, want string
	}{
		{"empty before extension", "exe", "", document.ReasonEmpty},
		{"extension before content", "exe", "%PDF-1.7\n", document.ReasonUnsupportedType},
		{"content before fakePDF", "pdf", "GIF89a", document.ReasonMismatch("pdf")},
		{"extension in capitals", "PDF", "%PDF-1.7\n", ""},
	} {
		if report := judge(t, row.ext, []byte(row.doc)); report.Rejection != row.want {
			t.Errorf("%s: %q, want %q", row.name, report.Rejection, row.want)
		}
	}
}

// TestOwnFault holds that what is no finding about the document is an error.
func TestOwnFault(t *testing.T) {
	broken := errors.New("broken pipe")
	for ext, doc := range samplesByExtension() {
		if _, err := document.Inspect(t.Context(), failing{broken}, int64(len(doc)), ext, &fakePDF{pages: 1}, document.DefaultInspectLimits()); !errors.Is(err, broken) {
			t.Errorf("%s, read fails: %v", ext, err)
		}
		if _, err := document.Inspect(t.Context(), bytes.NewReader(doc[:3]), int64(len(doc)), ext, &fakePDF{pages: 1}, document.DefaultInspectLimits()); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s, document shorter than its size: %v", ext, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := document.Inspect(ended, bytes.NewReader(doc), int64(len(doc)), ext, &fakePDF{pages: 1}, document.DefaultInspectLimits()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, context ended: %v", ext, err)
		}
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
