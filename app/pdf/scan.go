package pdf

import (
	"context"
	"math"
)

// The rule of API.md, "image-heavy": at least 80 % of the pages are scans, a
// scan being a page of which images cover at least half. Of a long document, some
// pages taken evenly are judged first, and all of them when the share of scans among
// the first is from doubtLeast to doubtMost.
const (
	mostSampled  = 20
	doubtLeast   = 0.5
	doubtMost    = 0.95
	scanCover    = 0.5
	heavyShare   = 0.8
	deepestForms = 2
)

// Types of page objects that count (FPDF_PAGEOBJ_*).
const (
	objectImage = 3
	objectForm  = 5
)

// ImageHeavy reports whether at least 80 % of the pages are scans (API.md), looking at
// no more than 20 pages where these leave no doubt. It returns ErrUnreadable when
// PDFium breaks down over a page, the error of the reader, or ctx's.
func (d *Document) ImageHeavy(ctx context.Context) (bool, error) {
	share, err := d.scans(ctx, sample(d.pages))
	if err == nil && d.pages > mostSampled && share >= doubtLeast && share <= doubtMost {
		share, err = d.scans(ctx, evenly(d.pages, d.pages))
	}
	return err == nil && share >= heavyShare, err
}

// scans returns the share of scans among these pages.
func (d *Document) scans(ctx context.Context, pages []int) (float64, error) {
	scans := 0
	err := d.do(ctx, func() error {
		for _, i := range pages {
			err := d.page(ctx, i, func(page uint32) error {
				scan, err := d.scan(ctx, page)
				if scan {
					scans++
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, func() error { return errGone })
	return float64(scans) / float64(max(len(pages), 1)), err
}

// sample returns up to 20 page numbers from 0.
func sample(pages int) []int { return evenly(pages, mostSampled) }

// evenly returns up to most page numbers from 0, evenly spaced, first and last among
// them.
func evenly(pages, most int) []int {
	n := min(pages, most)
	list := make([]int, n)
	for i := range list {
		if n > 1 {
			list[i] = i * (pages - 1) / (n - 1)
		}
	}
	return list
}

// scan reports whether images cover at least half of the page. Their areas are
// summed, so that a scan in strips is seen as well.
func (d *Document) scan(ctx context.Context, page uint32) (bool, error) {
	area := 1.0
	for _, side := range []string{"FPDF_GetPageWidthF", "FPDF_GetPageHeightF"} {
		bits, err := d.in.call(ctx, side, page)
		if err != nil {
			return false, err
		}
		area *= float64(math.Float32frombits(bits))
	}
	c := cover{in: d.in, enough: scanCover * area}
	err := c.add(ctx, page, "FPDFPage_CountObjects", "FPDFPage_GetObject", 1, 0)
	return area > 0 && c.sum >= c.enough, err
}

// cover adds up the areas of images.
type cover struct {
	in          *instance
	sum, enough float64
}

// add looks through the objects of a page or form until there is enough. scale
// is how much larger than itself the surroundings draw it.
func (c *cover) add(ctx context.Context, of uint32, count, get string, scale float64, depth int) error {
	n, err := c.in.call(ctx, count, of)
	if err != nil {
		return err
	}
	for i := int32(0); i < int32(n) && c.sum < c.enough; i++ {
		object, err := c.in.call(ctx, get, of, uint32(i))
		if err != nil {
			return err
		}
		kind, err := c.in.call(ctx, "FPDFPageObj_GetType", object)
		if err != nil {
			return err
		}
		if kind != objectImage && (kind != objectForm || depth == deepestForms) {
			continue
		}
		size, err := c.matrix(ctx, object)
		if err != nil {
			return err
		}
		if kind == objectImage {
			c.sum += size * scale
			continue
		}
		err = c.add(ctx, object, "FPDFFormObj_CountObjects", "FPDFFormObj_GetObject", size*scale, depth+1)
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// matrix returns the factor by which the object's matrix scales areas: the area
// of an image, which is one unit wide and high before it.
func (c *cover) matrix(ctx context.Context, object uint32) (float64, error) {
	ok, err := c.in.call(ctx, "FPDFPageObj_GetMatrix", object, c.in.scratch)
	if err != nil || ok == 0 {
		return 0, err
	}
	m, err := c.in.floats(4)
	if err != nil {
		return 0, err
	}
	return math.Abs(m[0]*m[3] - m[1]*m[2]), nil
}
