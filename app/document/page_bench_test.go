//go:build !race

package document_test

import (
	"fmt"
	"path"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/vaulttest"
)

// BenchmarkPage renders scanned pages at the widths that the viewer requests. A letter page at 300
// dots per inch is 2,550 pixels wide.
func BenchmarkPage(b *testing.B) {
	e := engine(b)
	wanted := map[string]bool{
		"warranty-deed-scan-100dpi.pdf": true, "warranty-deed-g4-ocr-layer.pdf": true, "open-end-mortgage.pdf": true,
		"warranty-deed-g4-300dpi.tiff": true, "recorded-deed-phone-photo.jpg": true,
		"plat-24x36-vector.pdf": true, "deed-pages-lzw.tif": true,
	}
	for _, s := range vaulttest.Samples(b) {
		if !wanted[path.Base(s.Path)] {
			continue
		}
		src := source(b, e, s)
		for _, width := range []int{1275, 2550} {
			b.Run(fmt.Sprintf("%s/%d", path.Base(s.Path), width), func(b *testing.B) {
				size := 0
				for b.Loop() {
					p, err := document.PageImage(b.Context(), src, 1, width, document.ExtractLimits{})
					if err != nil {
						b.Fatalf("document.PageImage: %v", err)
					}
					size = len(p.Bytes)
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}
