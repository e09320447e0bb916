package pdf

import (
	"context"
	"math"
)

// A PDF is image-heavy if at least minHeavyShare of its pages are scans. A page is a scan if images
// cover at least scanCoverage of it. If a document has more than maxSampled pages, evenly spaced
// pages are examined first. All pages are examined only if the share of scans among the first ones
// is between minDoubtfulShare and maxDoubtfulShare.
const (
	maxSampled       = 20
	minDoubtfulShare = 0.5
	maxDoubtfulShare = 0.95
	scanCoverage     = 0.5
	minHeavyShare    = 0.8
	maxFormDepth     = 2
)

// Types of page objects that this package examines (FPDF_PAGEOBJ_*).
const (
	objectImage = 3
	objectForm  = 5
)

// ImageHeavy reports whether at least 80% of the pages are scans. It examines only 20 pages if
// their result is clear. It returns ErrUnreadable if PDFium breaks, the error of the reader, or the
// error of ctx.
func (d *Document) ImageHeavy(ctx context.Context) (bool, error) {
	share, err := d.scans(ctx, sample(d.pages))
	if err == nil && d.pages > maxSampled && share >= minDoubtfulShare && share <= maxDoubtfulShare {
		share, err = d.scans(ctx, evenly(d.pages, d.pages))
	}
	return err == nil && share >= minHeavyShare, err
}

// scans returns the share of scans among the given pages. Page numbers start at 0.
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
	}, func() error { return errClosed })
	return float64(scans) / float64(max(len(pages), 1)), err
}

// sample returns up to 20 page numbers, starting at 0.
func sample(pages int) []int { return evenly(pages, maxSampled) }

// evenly returns up to n page numbers, starting at 0. They are evenly spaced and include the first
// and the last page.
func evenly(pages, n int) []int {
	n = min(n, pages)
	list := make([]int, n)
	for i := range list {
		if n > 1 {
			list[i] = i * (pages - 1) / (n - 1)
		}
	}
	return list
}

// scan reports whether images cover at least half of the page. It adds up the areas of the images,
// so that a scan stored in strips counts, too.
func (d *Document) scan(ctx context.Context, page uint32) (bool, error) {
	area := 1.0
	for _, side := range []string{"FPDF_GetPageWidthF", "FPDF_GetPageHeightF"} {
		bits, err := d.in.call(ctx, side, page)
		if err != nil {
			return false, err
		}
		area *= float64(math.Float32frombits(bits))
	}
	c := coverage{in: d.in, enough: scanCoverage * area}
	err := c.add(ctx, page, "FPDFPage_CountObjects", "FPDFPage_GetObject", 1, 0)
	return area > 0 && c.sum >= c.enough, err
}

// coverage adds up the areas of images.
type coverage struct {
	in          *instance
	sum, enough float64
}

// add adds the areas of the images in a page or form until they cover enough of the page. scale is
// the factor by which the enclosing forms scale areas.
func (c *coverage) add(ctx context.Context, parent uint32, count, get string, scale float64, depth int) error {
	n, err := c.in.call(ctx, count, parent)
	if err != nil {
		return err
	}
	for i := int32(0); i < int32(n) && c.sum < c.enough; i++ {
		object, err := c.in.call(ctx, get, parent, uint32(i))
		if err != nil {
			return err
		}
		objectType, err := c.in.call(ctx, "FPDFPageObj_GetType", object)
		if err != nil {
			return err
		}
		if objectType != objectImage && (objectType != objectForm || depth == maxFormDepth) {
			continue
		}
		size, err := c.matrix(ctx, object)
		if err != nil {
			return err
		}
		if objectType == objectImage {
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

// matrix returns the factor by which an object's matrix scales areas. The area of an image before
// scaling is 1, so the factor is the image's area.
func (c *coverage) matrix(ctx context.Context, object uint32) (float64, error) {
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
