//go:build !race

package tiff_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"path"
	"testing"

	"golang.org/x/image/draw"
	xtiff "golang.org/x/image/tiff"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/raster"
	"deedkeep/app/document/tiff"
	"deedkeep/app/vaulttest"
)

// BenchmarkTIFF compares the decoder of this package and the scaling of package raster with
// golang.org/x/image/tiff and golang.org/x/image/draw. Both render the first page of each TIFF sample,
// without encoding the result.
func BenchmarkTIFF(b *testing.B) {
	for _, s := range vaulttest.Samples(b) {
		if s.MIME != "image/tiff" {
			continue
		}
		content, err := os.ReadFile(s.File)
		if err != nil {
			b.Fatalf("os.ReadFile: %v", err)
		}
		for _, width := range []int{400, 1275} {
			name := fmt.Sprintf("%s/%d", path.Base(s.Path), width)
			b.Run(name+"/ours", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := render(b.Context(), content, width); err != nil {
						b.Fatalf("render: %v", err)
					}
				}
			})
			if _, err := xtiff.Decode(bytes.NewReader(content)); err != nil {
				continue // a BigTIFF, or JPEG compression
			}
			b.Run(name+"/x", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					img, err := xtiff.Decode(bytes.NewReader(content))
					if err != nil {
						b.Fatalf("xtiff.Decode: %v", err)
					}
					scaleWithDraw(img, width, img.Bounds().Dy()*width/img.Bounds().Dx())
				}
			})
		}
	}
}

// render returns the first page with the given width.
func render(ctx context.Context, content []byte, width int) (image.Image, error) {
	file, err := tiff.Open(docio.NewReader(ctx, bytes.NewReader(content), int64(len(content))))
	if err != nil {
		return nil, err
	}
	page, err := file.Page(1)
	if err != nil {
		return nil, err
	}
	img, err := page.Image(80_000_000)
	if err != nil {
		return nil, err
	}
	return img.Raster().Scale(width, img.Height*width/img.Width)
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
				if _, err := raster.New(img).Scale(400, 518); err != nil {
					b.Fatalf("Scale: %v", err)
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
