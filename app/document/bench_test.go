//go:build !race

package document_test

import (
	"path"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/vaulttest"
)

// BenchmarkThumbnail renders the first page of a document 400 pixels wide.
func BenchmarkThumbnail(b *testing.B) {
	e := engine(b)
	wanted := map[string]bool{
		"warranty-deed-scan-100dpi.pdf": true, "warranty-deed-g4-ocr-layer.pdf": true, "open-end-mortgage.pdf": true,
		"warranty-deed-g4-300dpi.tiff": true, "recorded-deed-phone-photo.jpg": true,
	}
	for _, s := range vaulttest.Samples(b) {
		if !wanted[path.Base(s.Path)] {
			continue
		}
		src := source(b, e, s)
		b.Run(path.Base(s.Path), func(b *testing.B) {
			for b.Loop() {
				if _, err := document.PageImage(b.Context(), src, 1, 400, document.ExtractLimits{}); err != nil {
					b.Fatalf("document.PageImage: %v", err)
				}
			}
		})
	}
}

// BenchmarkText extracts the text of 500 pages.
func BenchmarkText(b *testing.B) {
	e := engine(b)
	for _, s := range vaulttest.Samples(b) {
		if path.Base(s.Path) != "index-of-deeds-500-pages.pdf" {
			continue
		}
		src := source(b, e, s)
		for b.Loop() {
			pages := 0
			err := document.Text(b.Context(), src, document.ExtractLimits{}, func(int, string) error { pages++; return nil })
			if err != nil || pages != 500 {
				b.Fatalf("Text: %d pages, %v, want 500", pages, err)
			}
		}
	}
}
