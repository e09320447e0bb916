//go:build !race

package reader_test

import (
	"bytes"
	"os"
	"testing"

	"deedkeep/app/reader"
	"deedkeep/app/vaulttest"
)

func sampleContent(b *testing.B, name string) []byte {
	b.Helper()
	for _, s := range vaulttest.Samples(b) {
		if s.Path == name {
			content, err := os.ReadFile(s.File)
			if err != nil {
				b.Fatal(err)
			}
			return content
		}
	}
	b.Fatalf("no sample %s", name)
	return nil
}

func inspectPDF(b *testing.B, p *reader.Pool, content []byte) {
	b.Helper()
	report, err := p.Inspect(b.Context(), bytes.NewReader(content), int64(len(content)), "pdf", limits)
	if err != nil || report.Pages == nil {
		b.Fatalf("%+v, %v", report, err)
	}
}

// BenchmarkWarm is the inspection of one PDF by a child that is there already.
func BenchmarkWarm(b *testing.B) {
	for _, name := range []string{"title/open-end-mortgage.pdf", "title/warranty-deed-scan-jpeg.pdf", "title/index-of-deeds-500-pages.pdf"} {
		b.Run(name, func(b *testing.B) {
			content := sampleContent(b, name)
			p := reader.Open(reader.Options{CacheDir: vaulttest.Cache(), Processes: 1})
			defer p.Close()
			inspectPDF(b, p, content)
			for b.Loop() {
				inspectPDF(b, p, content)
			}
		})
	}
}

// BenchmarkLargeScan is the count of 280 scanned pages in 91 MiB.
func BenchmarkLargeScan(b *testing.B) {
	content := scanPDF(280, 340_000)
	p := reader.Open(reader.Options{CacheDir: vaulttest.Cache(), Processes: 1})
	defer p.Close()
	for b.Loop() {
		inspectPDF(b, p, content)
	}
}

// BenchmarkFirst is the first PDF: the child starts, and PDFium is compiled or
// comes from the cache.
func BenchmarkFirst(b *testing.B) {
	content := sampleContent(b, "title/open-end-mortgage.pdf")
	for name, cache := range map[string]func() string{
		"cached": vaulttest.Cache, "compiled": b.TempDir,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := reader.Open(reader.Options{CacheDir: cache(), Processes: 1})
				inspectPDF(b, p, content)
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
