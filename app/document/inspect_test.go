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

// fakePDF is a PDFEngine and a PDF that return fixed results.
type fakePDF struct {
	document.PDF // nil, because its methods are not called
	pages        int
	heavy        bool
	heavyErr     error
	openErr      error
	heavyCalled  bool   // whether ImageHeavy was called
	opened       int    // number of documents that are open
	stop         func() // called by ImageHeavy
}

func (f *fakePDF) Open(context.Context, io.ReaderAt, int64) (document.PDF, error) {
	if f.openErr != nil {
		return nil, f.openErr
	}
	f.opened++
	return f, nil
}

func (f *fakePDF) Pages() int { return f.pages }

func (f *fakePDF) ImageHeavy(context.Context) (bool, error) {
	f.heavyCalled = true
	if f.stop != nil {
		f.stop()
	}
	return f.heavy, f.heavyErr
}

func (f *fakePDF) Close(ctx context.Context) error {
	if ctx.Err() == nil {
		f.opened--
	}
	return ctx.Err()
}

// inspect inspects a document with the default limits and an engine that reports one page.
func inspect(t testing.TB, ext string, doc []byte) document.Report {
	t.Helper()
	report, err := document.Inspect(t.Context(), bytes.NewReader(doc), int64(len(doc)), ext, &fakePDF{pages: 1},
		document.DefaultInspectLimits())
	if err != nil {
		t.Fatalf("inspect .%s: %v", ext, err)
	}
	return report
}

// row is a document and the expected result of inspecting it with an extension.
type row struct {
	name string
	ext  string
	doc  []byte
	want string // expected rejection; "" if accepted; mismatch means ReasonMismatch for ext
}

const mismatch = "mismatch"

func checkInspections(t *testing.T, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			want := row.want
			if want == mismatch {
				want = document.ReasonMismatch(row.ext)
			}
			report := inspect(t, row.ext, row.doc)
			if report.Rejection != want {
				t.Errorf("rejection %q, want %q", report.Rejection, want)
			}
			if unknown := row.want == mismatch; (report.MIME == "") != unknown {
				t.Errorf("MIME %q with rejection %q, want MIME: %v", report.MIME, report.Rejection, !unknown)
			}
		})
	}
}

// TestSamples inspects every sample document. The engine returns the values in the manifest.
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
	engine := &fakePDF{pages: s.Pages, heavy: strings.HasPrefix(s.Rejection, "Image-heavy")}
	switch s.Rejection {
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
	if report.Rejection != s.Rejection || (report.Rejection == "") != s.Accept {
		t.Errorf("rejection %q, want %q (accepted: %v)", report.Rejection, s.Rejection, s.Accept)
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

// TestOrder checks the order of the checks in Inspect.
func TestOrder(t *testing.T) {
	for _, row := range []struct {
		name, ext, doc, want string
	}{
		{"empty before extension", "exe", "", document.ReasonEmpty},
		{"extension before content", "exe", "%PDF-1.7\n", document.ReasonUnsupportedType},
		{"content before engine", "pdf", "GIF89a", document.ReasonMismatch("pdf")},
		{"extension in capitals", "PDF", "%PDF-1.7\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if report := inspect(t, row.ext, []byte(row.doc)); report.Rejection != row.want {
				t.Errorf("rejection %q, want %q", report.Rejection, row.want)
			}
		})
	}
}

// TestFaultsAreErrors checks that Inspect returns an error, not a report, if a read fails or the
// context ends.
func TestFaultsAreErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	for ext, doc := range samplesByExtension() {
		if _, err := document.Inspect(t.Context(), failing{broken}, int64(len(doc)), ext, &fakePDF{pages: 1},
			document.DefaultInspectLimits()); !errors.Is(err, broken) {
			t.Errorf("%s, read fails: error %v, want %v", ext, err, broken)
		}
		if _, err := document.Inspect(t.Context(), bytes.NewReader(doc[:3]), int64(len(doc)), ext, &fakePDF{pages: 1},
			document.DefaultInspectLimits()); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s, document shorter than its size: error %v, want %v", ext, err, io.ErrUnexpectedEOF)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := document.Inspect(ended, bytes.NewReader(doc), int64(len(doc)), ext, &fakePDF{pages: 1},
			document.DefaultInspectLimits()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, context ended: error %v, want %v", ext, err, context.Canceled)
		}
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
