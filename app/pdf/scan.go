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
	share, err := d.scans(ctx, evenly(d.pages, maxSampled))
	if err == nil && d.pages > maxSampled && share >= minDoubtfulShare && share <= maxDoubtfulShare {
		share, err = d.scans(ctx, evenly(d.pages, d.pages))
	}
	return err == nil && share >= minHeavyShare, err
}

// scans returns the share of scans among the given pages.
func (d *Document) scans(ctx context.Context, pages []int) (float64, error) {
	scans := 0
	err := d.do(ctx, func() error {
		for _, page := range pages {
			_, err := d.tryPage(ctx, page, func(handle uint32) error {
				if d.isScan(ctx, handle) {
					scans++
				}
				return ctx.Err()
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return float64(scans) / float64(max(len(pages), 1)), err
}

// evenly returns up to n page numbers. They are evenly spaced and include the first and the last
// page.
func evenly(pages, n int) []int {
	n = min(n, pages)
	list := make([]int, n)
	for i := range list {
		list[i] = 1 + i*(pages-1)/max(n-1, 1)
	}
	return list
}

// isScan reports whether images cover at least half of the page. It adds up the areas of the
// images, so that a scan stored in strips counts, too.
func (d *Document) isScan(ctx context.Context, page uint32) bool {
	area := 1.0
	for _, side := range []string{"FPDF_GetPageWidthF", "FPDF_GetPageHeightF"} {
		area *= float64(math.Float32frombits(d.in.Call(ctx, side, page)))
	}
	c := coverage{in: d.in, enough: scanCoverage * area}
	c.add(ctx, page, "FPDFPage_CountObjects", "FPDFPage_GetObject", 1, 0)
	return area > 0 && c.sum >= c.enough
}

// coverage adds up the areas of images.
type coverage struct {
	in          *instance
	sum, enough float64
}

// add adds the areas of the images in a page or form until they cover enough of the page or ctx
// ends. scale is the factor by which the enclosing forms scale areas.
func (c *coverage) add(ctx context.Context, parent uint32, count, get string, scale float64, depth int) {
	n := int32(c.in.Call(ctx, count, parent))
	for i := int32(0); i < n && c.sum < c.enough && ctx.Err() == nil; i++ {
		object := c.in.Call(ctx, get, parent, uint32(i))
		switch objectType := c.in.Call(ctx, "FPDFPageObj_GetType", object); {
		case objectType == objectImage:
			c.sum += scale * c.area(ctx, object)
		case objectType == objectForm && depth < maxFormDepth:
			c.add(ctx, object, "FPDFFormObj_CountObjects", "FPDFFormObj_GetObject", scale*c.area(ctx, object), depth+1)
		}
	}
}

// area returns the factor by which an object's matrix scales areas. The area of an image before
// scaling is 1, so the factor is the image's area.
func (c *coverage) area(ctx context.Context, object uint32) float64 {
	if c.in.Call(ctx, "FPDFPageObj_GetMatrix", object, c.in.scratch) == 0 {
		return 0
	}
	m := c.in.floats(4)
	return math.Abs(m[0]*m[3] - m[1]*m[2])
}
