package document

import (
	"context"
	"fmt"
	"math"

	"deedkeep/app/pdf"
)

// PageSize is what a page is as it is to be looked at, upright.
type PageSize struct {
	Width, Height float64 // points of 1/72 inch; positive
	ImageWidth    int     // how wide the picture is that the page consists of; 0: it can be drawn at any width
}

// USLetter is the size that a page of an unknown one is taken to have.
var USLetter = PageSize{Width: 612, Height: 792}

// PageSizes returns the size of each page, at least one and at most lim.Pages; a page
// of which none can be had is Letter. It returns ErrUnsupported for a document of
// which there are no pictures, and ErrDamaged.
func PageSizes(ctx context.Context, src Source, lim ExtractLimits) ([]PageSize, error) {
	h, ok := handlers[src.MIME]
	if !ok || h.sizes == nil {
		return nil, fmt.Errorf("sizes of %s: %w", src.MIME, ErrUnsupported)
	}
	lim = lim.complete()
	var sizes []PageSize
	err := guard(ctx, src, func(doc *source) (err error) {
		sizes, err = h.sizes(doc, lim)
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

// longestSide is more points than any page has: PDF 1.6 ends at 200 inches times
// its greatest user unit.
const longestSide = 1 << 24

// Valid reports whether a page may be of that size.
func (s PageSize) Valid() bool {
	return s.Width > 0 && s.Height > 0 && s.Width < longestSide && s.Height < longestSide && s.ImageWidth >= 0 && s.ImageWidth <= longestSide
}

func pdfSizes(doc *source, lim ExtractLimits) (sizes []PageSize, err error) {
	err = withPDF(doc, func(d *pdf.Document) error {
		for n := range min(d.Pages(), lim.MaxPages) {
			w, h, err := d.PageSize(doc.ctx, n+1)
			if err = pdfVerdict(err); err != nil && n == 0 {
				return err
			}
			sizes = append(sizes, PageSize{Width: w, Height: h})
			if doc.err != nil {
				return doc.err
			}
		}
		return nil
	})
	return sizes, err
}

// pointsPerPixel is what a pixel of a picture that names no resolution measures:
// CSS Values 4, 6.1 has 96 of them in an inch.
const pointsPerPixel = 72. / 96

func tiffSizes(doc *source, lim ExtractLimits) ([]PageSize, error) {
	var sizes []PageSize
	err := tiffEach(doc, lim.MaxPages, func(dir directory) {
		sizes = append(sizes, dir.size(doc))
	})
	return sizes, err
}

// Units of a resolution (TIFF 6.0, ResolutionUnit).
const (
	tagUnit       = 296
	perInch       = 2
	perCentimetre = 3
)

// The resolutions of scanners, in dots per inch; others are nonsense that writers
// leave there.
const leastDots, mostDots = 50, 2400

func (d directory) size(doc *source) PageSize {
	w, h := float64(d.one(doc, tagWidth, 0)), float64(d.one(doc, tagHeight, 0))
	x, y := d.rational(doc, tagXResolution), d.rational(doc, tagYResolution)
	if d.one(doc, tagUnit, perInch) == perCentimetre {
		x, y = 2.54*x, 2.54*y
	}
	natural := [2]float64{w, h}
	aspect := pixelAspect(x, y)
	if aspect > 1 {
		natural[1] *= aspect
	} else {
		natural[0] /= aspect
	}
	points := pointsPerPixel
	if dots := max(x, y); dots >= leastDots && dots <= mostDots {
		points = 72 / dots
	}
	return naturalSize(natural[0], natural[1], points, d.turn(doc))
}

// pixelAspect is the height of a pixel by its width. Fax machines have half as many
// lines as dots; other great differences are nonsense that writers leave there.
func pixelAspect(x, y float64) float64 {
	if x > 0 && y > 0 && x/y > 0.2 && x/y < 5 {
		return x / y
	}
	return 1
}

// naturalSize is the size of a picture of w x h square pixels, set upright.
func naturalSize(w, h, points float64, turn int) PageSize {
	if turn >= 5 && turn <= 8 {
		w, h = h, w
	}
	return PageSize{Width: w * points, Height: h * points, ImageWidth: int(math.Round(min(w, longestSide)))}
}

func imageSizes(doc *source, _ ExtractLimits) ([]PageSize, error) {
	config, err := codecs[doc.MIME].config(doc.all())
	if err != nil {
		return nil, codecVerdict(err)
	}
	turn := 1
	if doc.MIME == "image/jpeg" {
		turn = exifTurn(doc)
	}
	return []PageSize{naturalSize(float64(config.Width), float64(config.Height), pointsPerPixel, turn)}, nil
}
