//go:build !race

package document_test

import (
	"bytes"
	"errors"
	"path"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
)

// assemble returns a new document of pages.
func assemble(t *testing.T, e pdfium, parts ...document.Part) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	err := document.Assemble(t.Context(), e, parts, &out, document.ExtractLimits{MaxPixels: 200_000_000})
	return out.Bytes(), err
}

// allPages returns all pages of a document.
func allPages(t *testing.T, src document.Source) (pages []pdf.PageTurn, err error) {
	t.Helper()
	sizes, err := document.PageSizes(t.Context(), src, document.ExtractLimits{})
	for n := range sizes {
		pages = append(pages, pdf.PageTurn{Page: n + 1})
	}
	return pages, err
}

// A document of all pages of a sample has its pages, and the same bytes each time.
func TestSampleAssemble(t *testing.T) {
	e := engine(t)
	for _, s := range vaulttest.Samples(t) {
		if !s.Accept || s.MIME != "application/pdf" && !strings.HasPrefix(s.MIME, "image/") {
			continue
		}
		t.Run(path.Base(s.Path), func(t *testing.T) {
			src := source(t, e, s)
			pages, err := allPages(t, src)
			if err != nil {
				return // the document is beyond the limits
			}
			if _, err := document.PageImage(t.Context(), src, 1, 300, document.ExtractLimits{}); err != nil {
				return
			}
			got, err := assemble(t, e, document.Part{Source: src, Pages: pages})
			if err != nil {
				t.Fatalf("Assemble: %v", err)
			}
			again, err := assemble(t, e, document.Part{Source: src, Pages: pages})
			if err != nil || !bytes.Equal(got, again) {
				t.Errorf("the second document differs: %d and %d bytes, %v", len(got), len(again), err)
			}
			comparePages(t, src, document.Source{Doc: bytes.NewReader(got), Size: int64(len(got)), MIME: "application/pdf", PDF: e})
		})
	}
}

// A document of pages of several documents has them in order, turned as requested.
func TestAssembleParts(t *testing.T) {
	e := engine(t)
	samples := map[string]document.Source{}
	for _, s := range vaulttest.Samples(t) {
		samples[s.Path] = source(t, e, s)
	}
	scan, fax := samples["title/warranty-deed-scan-100dpi.pdf"], samples["title/warranty-deed-g4-300dpi.tiff"]
	got, err := assemble(t, e,
		document.Part{Source: scan, Pages: []pdf.PageTurn{{Page: 3, Turns: 1}, {Page: 1}}},
		document.Part{Source: fax, Pages: []pdf.PageTurn{{Page: 2, Turns: 2}}},
		document.Part{Source: scan, Pages: []pdf.PageTurn{{Page: 2}}})
	if err != nil {
		t.Fatalf("Assemble: %v", err)
	}
	copied := document.Source{Doc: bytes.NewReader(got), Size: int64(len(got)), MIME: "application/pdf", PDF: e}
	for n, want := range []struct {
		src  document.Source
		page int
	}{{scan, 3}, {scan, 1}, {fax, 2}, {scan, 2}} {
		a, err := document.PageImage(t.Context(), want.src, want.page, 300, document.ExtractLimits{})
		if err != nil {
			t.Fatalf("PageImage: %v", err)
		}
		b, err := document.PageImage(t.Context(), copied, n+1, 300, document.ExtractLimits{})
		if err != nil {
			t.Fatalf("PageImage of the copy: %v", err)
		}
		if turned := a.Width < a.Height != (b.Width < b.Height); turned != (n == 0) {
			t.Errorf("page %d: %d x %d, and %d x %d before", n+1, b.Width, b.Height, a.Width, a.Height)
		}
		if n != 0 && n != 2 {
			if difference := meanDifference(t, a, b); difference > 6 {
				t.Errorf("page %d differs by %.1f of 255", n+1, difference)
			}
		}
	}
	text := document.Source{Doc: strings.NewReader("x"), Size: 1, MIME: "text/plain"}
	for name, c := range map[string]struct {
		part document.Part
		want error
	}{
		"no such page":           {document.Part{Source: scan, Pages: []pdf.PageTurn{{Page: 5}}}, document.ErrDamaged},
		"no such page of a TIFF": {document.Part{Source: fax, Pages: []pdf.PageTurn{{Page: 50}}}, document.ErrNoPage},
		"no pages":               {document.Part{Source: scan}, document.ErrDamaged},
		"text":                   {document.Part{Source: text, Pages: []pdf.PageTurn{{Page: 1}}}, document.ErrUnsupported},
	} {
		if _, err := assemble(t, e, c.part); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}
