//go:build !race

package sandbox_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

func sampleContent(b *testing.B, name string) []byte {
	b.Helper()
	for _, s := range vaulttest.Samples(b) {
		if s.Path == name {
			content, err := os.ReadFile(s.File)
			if err != nil {
				b.Fatalf("read file: %v", err)
			}
			return content
		}
	}
	b.Fatalf("no sample %s", name)
	return nil
}

func inspectPDF(b *testing.B, p *sandbox.Pool, content []byte, lim document.InspectLimits) {
	b.Helper()
	report, err := p.Inspect(b.Context(), bytes.NewReader(content), int64(len(content)), "pdf", lim)
	if err != nil || report.Pages == nil {
		b.Fatalf("Inspect = %+v, %v, want a page count", report, err)
	}
}

// BenchmarkWarm measures the inspection of one PDF by a worker that is already running.
func BenchmarkWarm(b *testing.B) {
	for _, name := range []string{"title/open-end-mortgage.pdf", "title/warranty-deed-scan-100dpi.pdf", "title/index-of-deeds-500-pages.pdf"} {
		b.Run(name, func(b *testing.B) {
			content := sampleContent(b, name)
			p := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
			defer p.Close()
			inspectPDF(b, p, content, limits)
			for b.Loop() {
				inspectPDF(b, p, content, limits)
			}
		})
	}
}

// BenchmarkLargeScan measures counting 280 scanned pages in 91 MiB, with and without checking
// whether they are scans.
func BenchmarkLargeScan(b *testing.B) {
	content := scanPDF(280, 340_000)
	counted := limits
	counted.MaxImageHeavySize = 100 << 20
	for name, lim := range map[string]document.InspectLimits{"counted": counted, "looked at": limits} {
		b.Run(name, func(b *testing.B) {
			p := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
			defer p.Close()
			inspectPDF(b, p, content, limits)
			for b.Loop() {
				inspectPDF(b, p, content, lim)
			}
		})
	}
}

// BenchmarkExtract measures two tasks of a running worker: rendering a scanned page 400 pixels
// wide, and extracting the text of 500 pages.
func BenchmarkExtract(b *testing.B) {
	p := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	defer p.Close()
	request := func(name string) sandbox.Request {
		content := sampleContent(b, name)
		return sandbox.Request{Doc: bytes.NewReader(content), Size: int64(len(content)), MIME: "application/pdf", Ext: "pdf"}
	}
	scan, index := request("title/warranty-deed-scan-100dpi.pdf"), request("title/index-of-deeds-500-pages.pdf")
	b.Run("picture", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.PageImage(b.Context(), scan, 1, 400, document.ExtractLimits{}); err != nil {
				b.Fatalf("render page: %v", err)
			}
		}
	})
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			if err := p.Text(b.Context(), index, document.ExtractLimits{}, func(int, string) error { return nil }); err != nil {
				b.Fatalf("read text: %v", err)
			}
		}
	})
}

// BenchmarkStart measures the inspection of one text document, including starting the worker.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
		if _, err := p.Inspect(b.Context(), strings.NewReader("deed"), 4, "txt", limits); err != nil {
			b.Fatalf("inspect: %v", err)
		}
		if err := p.Close(); err != nil {
			b.Fatalf("close pool: %v", err)
		}
	}
}

// BenchmarkFirst measures the inspection of the first PDF: starting a worker, and compiling PDFium
// or loading it from the cache.
func BenchmarkFirst(b *testing.B) {
	content := sampleContent(b, "title/open-end-mortgage.pdf")
	for name, cache := range map[string]func() string{
		"cached": vaulttest.CacheDir, "compiled": b.TempDir,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := sandbox.Open(sandbox.Options{CacheDir: cache(), Workers: 1})
				inspectPDF(b, p, content, limits)
				if err := p.Close(); err != nil {
					b.Fatalf("close pool: %v", err)
				}
			}
		})
	}
}

// BenchmarkView measures how long a running worker takes to render pages at the sizes that the
// viewer requests. A letter page at 300 dpi is 2,550 pixels wide, and a plat is 5,100.
func BenchmarkView(b *testing.B) {
	p := sandbox.Open(sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	defer p.Close()
	for _, c := range []struct {
		name  string
		width int
	}{
		{"title/warranty-deed-g4-300dpi.tiff", 2550},
		{"title/warranty-deed-g4-ocr-layer.pdf", 2550},
		{"title/warranty-deed-scan-100dpi.pdf", 2550},
		{"title/open-end-mortgage.pdf", 2550},
		{"title/recorded-deed-phone-photo.jpg", 2550},
		{"title/plat-24x36-vector.pdf", 5100},
		{"title/warranty-deed-scan-100dpi.pdf", 1275},
	} {
		r := sampleRequest(b, c.name)
		b.Run(c.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				picture, err := p.PageImage(b.Context(), r, 1, c.width, document.ExtractLimits{})
				if err != nil {
					b.Fatalf("render page: %v", err)
				}
				size = len(picture.Bytes)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
