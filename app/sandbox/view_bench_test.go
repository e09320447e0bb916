//go:build !race

package sandbox_test

import (
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

// BenchmarkView is a page as a viewer asks for it, by a child that is there already:
// 2,550 pixels are a letter page at 300 dots an inch, 5,100 are for plats.
func BenchmarkView(b *testing.B) {
	p := sandbox.Open(sandbox.Options{CacheDir: vaulttest.Cache(), Workers: 1})
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
				picture, err := p.Picture(b.Context(), r, 1, c.width, document.ExtractLimits{})
				if err != nil {
					b.Fatal(err)
				}
				size = len(picture.Bytes)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
