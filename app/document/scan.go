package document

import (
	"context"
	"image"
	"math"
)

// scanDPI is the resolution for reading words, in dots per inch. A higher one takes longer and
// doesn't find more.
const scanDPI = 300

// Scan renders page n upright and in gray on a white background, for reading its words. dpi is the
// resolution of the image in dots per inch, or 0 if it is unknown. It returns the errors of
// PageImage.
func Scan(ctx context.Context, src Source, n int, lim ExtractLimits) (img *image.Gray, dpi float64, err error) {
	err = withPage(ctx, src, n, lim, func(doc *source, lim ExtractLimits) error {
		size, err := doc.pages.size(doc, n, lim)
		if err != nil {
			return err
		}
		if !size.Valid() {
			size = USLetter
		}
		width, known := scanWidth(size)
		drawn, err := doc.pages.image(doc, n, min(width, lim.MaxWidth), lim)
		if err != nil {
			return err
		}
		img = luminance(drawn)
		if known {
			dpi = float64(img.Rect.Dx()) * 72 / size.Width
		}
		return nil
	})
	return img, dpi, err
}

// scanWidth returns the width at which to render a page, in pixels. known reports whether the size
// of the page is known. If not, the image keeps its size.
func scanWidth(size PageSize) (width int, known bool) {
	if size.ImageWidth > 0 && math.Abs(size.Width-float64(size.ImageWidth)*pointsPerPixel) < 1 {
		return size.ImageWidth, false
	}
	width = int(math.Round(max(min(size.Width/72*scanDPI, maxRenderedPixels), 1)))
	if size.ImageWidth > 0 {
		width = min(width, size.ImageWidth)
	}
	return width, true
}

// luminance returns the image in gray.
func luminance(img image.Image) *image.Gray {
	if gray, ok := img.(*image.Gray); ok {
		return gray
	}
	rgba := img.(*image.RGBA) // page images have one of these types
	gray := image.NewGray(rgba.Rect)
	for i := range gray.Pix {
		p := rgba.Pix[4*i:][:3:3]
		gray.Pix[i] = byte((299*uint32(p[0]) + 587*uint32(p[1]) + 114*uint32(p[2]) + 500) / 1000)
	}
	return gray
}
