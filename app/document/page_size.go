package document

import (
	"context"
	"math"

	"deedkeep/app/document/raster"
)

// PageSize is the size of an upright page.
type PageSize struct {
	Width, Height float64 // in points of 1/72 inch; positive
	ImageWidth    int     // width in pixels of the image that fills the page; 0 if the page can be rendered at any width
}

// USLetter is the size of a page whose size can't be read.
var USLetter = PageSize{Width: 612, Height: 792}

// PageSizes returns the size of each page: at least one size and at most lim.MaxPages. If the size
// of a page can't be read, it is USLetter. PageSizes returns ErrUnsupported for a document without
// page images, or ErrDamaged.
func PageSizes(ctx context.Context, src Source, lim ExtractLimits) ([]PageSize, error) {
	var sizes []PageSize
	err := withPages(ctx, src, lim, func(doc *source, lim ExtractLimits) (err error) {
		sizes, err = doc.pages.sizes(doc, lim)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, s := range sizes {
		if !s.Valid() {
			sizes[i] = USLetter
		}
	}
	return sizes, nil
}

// maxSide is greater than the longest possible side of a page in points. PDF 1.6 allows 200 inches
// times the largest user unit.
const maxSide = 1 << 24

// Valid reports whether a page can have this size.
func (s PageSize) Valid() bool {
	return s.Width > 0 && s.Height > 0 && s.Width < maxSide && s.Height < maxSide && s.ImageWidth >= 0 && s.ImageWidth <= maxSide
}

// pdfSize returns the size of page n.
func pdfSize(doc *source, n int, _ ExtractLimits) (size PageSize, err error) {
	err = withPDF(doc, func(d PDF) error {
		if n > d.Pages() {
			return ErrNoPage
		}
		w, h, err := d.PageSize(doc.Context(), n)
		size = PageSize{Width: w, Height: h}
		return pdfError(err)
	})
	return size, err
}

func pdfSizes(doc *source, lim ExtractLimits) (sizes []PageSize, err error) {
	err = withPDF(doc, func(d PDF) error {
		for n := range min(d.Pages(), lim.MaxPages) {
			w, h, err := d.PageSize(doc.Context(), n+1)
			if err = pdfError(err); err != nil && n == 0 {
				return err
			}
			sizes = append(sizes, PageSize{Width: w, Height: h})
			if doc.Err() != nil {
				return doc.Err()
			}
		}
		return nil
	})
	return sizes, err
}

// pointsPerPixel is the size of a pixel in an image that doesn't specify a resolution. An inch has
// 96 pixels (CSS Values 4, 6.1).
const pointsPerPixel = 72. / 96

// uprightSize returns the page size of an image with w x h square pixels after rotating it upright.
func uprightSize(w, h, pointsPerPixel float64, orientation int) PageSize {
	if orientation >= 5 {
		w, h = h, w
	}
	return PageSize{Width: w * pointsPerPixel, Height: h * pointsPerPixel, ImageWidth: int(math.Round(min(w, maxSide)))}
}

func imageSizes(doc *source, lim ExtractLimits) ([]PageSize, error) {
	size, err := imagePageSize(doc, 1, lim)
	if err != nil {
		return nil, err
	}
	return []PageSize{size}, nil
}

func imagePageSize(doc *source, n int, _ ExtractLimits) (PageSize, error) {
	if n != 1 {
		return PageSize{}, ErrNoPage
	}
	config, err := doc.config(doc.All())
	if err != nil {
		return PageSize{}, raster.CodecError(err)
	}
	orientation := 1
	if doc.mime == mimeJPEG {
		orientation = exifOrientation(doc.Reader)
	}
	return uprightSize(float64(config.Width), float64(config.Height), pointsPerPixel, orientation), nil
}
