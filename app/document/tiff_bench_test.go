//go:build !race

package document_test

import (
	"fmt"
	"image"
	"io"
	"path"
	"testing"

	"golang.org/x/image/draw"
	"golang.org/x/image/tiff"

	"deedkeep/app/document"
	"deedkeep/app/vaulttest"
)

// BenchmarkTIFF compares the decoder and the scaling of this package with golang.org/x/image/tiff
// and golang.org/x/image/draw. Both render the first page of each TIFF sample, without encoding the
// result.
func BenchmarkTIFF(b *testing.B) {
	for _, s := range vaulttest.Samples(b) {
		if s.MIME != "image/tiff" {
			continue
		}
		src := source(b, nil, s)
		for _, width := range []int{400, 1275} {
			name := fmt.Sprintf("%s/%d", path.Base(s.Path), width)
			b.Run(name+"/ours", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := document.RenderTIFF(b.Context(), src, width); err != nil {
						b.Fatalf("document.RenderTIFF: %v", err)
					}
				}
			})
			if _, err := tiff.Decode(io.NewSectionReader(src.Doc, 0, src.Size)); err != nil {
				continue // a BigTIFF, or JPEG compression
			}
			b.Run(name+"/x", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					img, err := tiff.Decode(io.NewSectionReader(src.Doc, 0, src.Size))
					if err != nil {
						b.Fatalf("tiff.Decode: %v", err)
					}
					scaleWithDraw(img, width, img.Bounds().Dy()*width/img.Bounds().Dx())
				}
			})
		}
	}
}

// scaleWithDraw scales an image with the fastest filter of package draw that weighs all pixels.
func scaleWithDraw(img image.Image, width, height int) {
	var scaled draw.Image = image.NewRGBA(image.Rect(0, 0, width, height))
	if _, gray := img.(*image.Gray); gray {
		scaled = image.NewGray(scaled.Bounds())
	}
	draw.BiLinear.Scale(scaled, scaled.Bounds(), img, img.Bounds(), draw.Src, nil)
}

// BenchmarkScale compares only the scaling, for a letter page at 300 dots per inch.
func BenchmarkScale(b *testing.B) {
	page := image.Rect(0, 0, 2550, 3300)
	for name, img := range map[string]image.Image{
		"gray": image.NewGray(page), "color": image.NewRGBA(page), "photo": image.NewYCbCr(page, image.YCbCrSubsampleRatio420),
	} {
		b.Run(name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := document.Shrink(img, 400, 518); err != nil {
					b.Fatalf("document.Shrink: %v", err)
				}
			}
		})
		b.Run(name+"/x", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				scaleWithDraw(img, 400, 518)
			}
		})
	}
}
