//go:build !race

// Compiling PDFium takes ten seconds under the race detector, so these tests run without it.

package document_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
	"deedkeep/web"
)

// pdfium makes a pdf.Engine a document.PDFEngine.
type pdfium struct{ *pdf.Engine }

func (p pdfium) Open(ctx context.Context, doc io.ReaderAt, size int64) (document.PDF, error) {
	opened, err := p.Engine.Open(ctx, doc, size)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func engine(t testing.TB) pdfium {
	t.Helper()
	wasm, err := web.PDFium()
	if err != nil {
		t.Fatalf("web.PDFium: %v", err)
	}
	e, err := pdf.New(t.Context(), pdf.Options{Wasm: wasm, CacheDir: vaulttest.CacheDir()})
	if err != nil {
		t.Fatalf("pdf.New: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return pdfium{e}
}

func source(t testing.TB, e document.PDFEngine, s vaulttest.Sample) document.Source {
	t.Helper()
	b, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	return document.Source{Doc: bytes.NewReader(b), Size: int64(len(b)), MIME: s.MIME, PDF: e}
}

// text returns the text of a document with each run of whitespace replaced by one space.
func text(t testing.TB, src document.Source) (string, error) {
	t.Helper()
	var all strings.Builder
	before := 0
	err := document.Text(t.Context(), src, document.ExtractLimits{}, func(page int, text string) error {
		if page <= before {
			t.Errorf("got page %d after page %d, want ascending numbers", page, before)
		}
		before = page
		all.WriteString(text + "\n")
		return nil
	})
	return strings.ToLower(strings.Join(strings.Fields(all.String()), " ")), err
}

// differentText lists samples whose text doesn't contain the phrase that another tool found, and
// the reason.
var differentText = map[string]string{
	"warranty-deed-scan-jpeg.pdf": "a scan without text; tesseract read it",
	"ArabicCIDTrueType.pdf":       "PDFium returns letters and pdftotext their presentation forms; users search for letters",
}

func TestSampleText(t *testing.T) {
	e := engine(t)
	found := 0
	for _, s := range vaulttest.Samples(t) {
		if s.Phrase == "" || !s.Accept || strings.HasPrefix(s.MIME, "image/") {
			continue
		}
		name := path.Base(s.Path)
		t.Run(name, func(t *testing.T) {
			got, err := text(t, source(t, e, s))
			if err != nil {
				t.Fatalf("text: %v", err)
			}
			phrase := strings.ToLower(strings.Join(strings.Fields(s.Phrase), " "))
			switch reason := differentText[name]; {
			case strings.Contains(got, phrase) && reason != "":
				t.Errorf("text has %q, want none, because differentText lists the sample (%s)", s.Phrase, reason)
			case !strings.Contains(got, phrase) && reason == "":
				t.Errorf("got %.300q, want %q in it", got, s.Phrase)
			}
			found++
		})
	}
	if found < 10 {
		t.Errorf("%d samples checked, want at least 10", found)
	}
}

func TestSamplesWithoutText(t *testing.T) {
	for _, s := range vaulttest.Samples(t) {
		if !s.Accept || !strings.HasPrefix(s.MIME, "image/") {
			continue
		}
		if _, err := text(t, source(t, nil, s)); !errors.Is(err, document.ErrUnsupported) {
			t.Errorf("Text(%s): error %v, want %v", s.Path, err, document.ErrUnsupported)
		}
	}
}
