//go:build !race

// Under the race detector, compiling PDFium takes ten seconds, so these tests need a binary without
// it.

package sandbox_test

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
	"deedkeep/web"
)

func TestSamples(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	for _, s := range vaulttest.Samples(t) {
		t.Run(path.Base(s.Path), func(t *testing.T) {
			content, err := os.ReadFile(s.File)
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			began := time.Now()
			ext := path.Ext(s.Path)[1:]
			report, err := p.Inspect(t.Context(), bytes.NewReader(content), int64(len(content)), ext, limits)
			if err != nil {
				t.Fatalf("inspect: %v", err)
			}
			if report.Rejection != s.Rejection {
				t.Errorf("rejection %q, want %q", report.Rejection, s.Rejection)
			}
			if s.Accept && report.MIME != s.MIME {
				t.Errorf("type %q, want %q", report.MIME, s.MIME)
			}
			if s.Accept && s.Pages > 0 && (report.Pages == nil || *report.Pages != s.Pages) {
				t.Errorf("pages %v, want %d", report.Pages, s.Pages)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v, want at most 30 s", took)
			}
		})
	}
	s := p.Stats()
	t.Logf("%+v", s)
	if s.Alive > 1 || s.Started > 4 {
		t.Errorf("Stats() = %+v, want at most 1 alive of 4 started", s)
	}
}

// Every accepted sample has text or an image of its first page, or fails with a document error.
// None of them kills its worker.
func TestSamplesExtracted(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	for _, s := range vaulttest.Samples(t) {
		if !s.Accept {
			continue
		}
		t.Run(path.Base(s.Path), func(t *testing.T) {
			content, err := os.ReadFile(s.File)
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			r := sandbox.Request{Doc: bytes.NewReader(content), Size: int64(len(content)), MIME: s.MIME, Ext: path.Ext(s.Path)[1:]}
			var words strings.Builder
			err = p.Text(t.Context(), r, document.ExtractLimits{}, func(_ int, text string) error {
				words.WriteString(text)
				return nil
			})
			if err != nil && !sandbox.IsDocumentError(err) {
				t.Errorf("text: %v", err)
			}
			picture, drawn := p.PageImage(t.Context(), r, 1, 400, document.ExtractLimits{})
			if drawn != nil && !sandbox.IsDocumentError(drawn) {
				t.Errorf("Picture = %v, want no error or one of the document", drawn)
			}
			if err != nil && drawn != nil {
				t.Logf("neither text nor picture: %v, %v", err, drawn)
			}
			t.Logf("%d bytes of text, %d by %d", words.Len(), picture.Width, picture.Height)
		})
	}
	if s := p.Stats(); s.Alive > 1 || s.Started > 4 {
		t.Errorf("Stats() = %+v, want at most 1 alive and 4 started", s)
	}
}

// A worker in which a document broke PDFium doesn't get another document.
func TestWorkerIsReplacedAfterBomb(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	for _, s := range vaulttest.Samples(t) {
		if s.Path != "refuse/flate-bomb-object-stream.pdf" {
			continue
		}
		content, err := os.ReadFile(s.File)
		if err != nil {
			t.Fatalf("read file: %v", err)
		}
		report, err := p.Inspect(t.Context(), bytes.NewReader(content), int64(len(content)), "pdf", limits)
		if err != nil || report.Rejection != document.ReasonPDFUnreadable {
			t.Errorf("Inspect = %+v, %v; want a rejection of the expected kind", report, err)
		}
	}
	if got, want := p.Stats(), (sandbox.Stats{Started: 1, Killed: 1, Served: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

// countingDoc counts the bytes that are read from it.
type countingDoc struct {
	*bytes.Reader
	read int64
}

func (c *countingDoc) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.read += int64(n)
	return n, err
}

func TestLargeScan(t *testing.T) {
	content := scanPDF(280, 340_000)
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	lim := limits
	lim.MaxImageHeavySize, lim.MaxImageHeavyPages = 100<<20, 300
	for _, c := range []struct {
		name      string
		lim       document.InspectLimits
		rejection string
		maxRead   int64
	}{
		{"counted only", lim, "", 2 << 20}, // one unit for each page of a flat page tree
		{"looked at", limits, "Image-heavy PDF exceeds 50 MB limit", 12 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := &countingDoc{Reader: bytes.NewReader(content)}
			began := time.Now()
			report, err := p.Inspect(t.Context(), doc, doc.Size(), "pdf", c.lim)
			if err != nil || report.Rejection != c.rejection || report.Pages == nil || *report.Pages != 280 {
				t.Errorf("Inspect = %+v, %v; want a rejection of the expected kind", report, err)
			}
			if doc.read > c.maxRead {
				t.Errorf("read %d of %d bytes, want at most %d", doc.read, doc.Size(), c.maxRead)
			}
			t.Logf("%v, %d of %d bytes read", time.Since(began), doc.read, doc.Size())
		})
	}
}

func TestAssetsMissing(t *testing.T) {
	p := open(t, fake(t, "without assets"))
	doc := bytes.NewReader(scanPDF(1, 10))
	_, err := p.Inspect(t.Context(), doc, doc.Size(), "pdf", limits)
	if err == nil || !strings.Contains(err.Error(), web.ErrAssetsMissing.Error()) {
		t.Errorf("error = %v, want %v", err, web.ErrAssetsMissing)
	}
	if got, want := p.Stats(), (sandbox.Stats{Alive: 1, Started: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}
