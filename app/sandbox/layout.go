package sandbox

import (
	"context"
	"io"
	"math"
	"slices"

	"deedkeep/app/document"
	"deedkeep/app/document/phrase"
)

const (
	maxSizesPerFrame = 4096
	maxRectsPerFrame = 8192
	pageUnits        = 1 << 20 // precision of a rectangle: fractions of the page's width or height
)

// marks are the places of a phrase on one page. For each rectangle, Rects contains the index of its
// mark, then left, top, right, and bottom in 1/pageUnits of the page's width or height. Rectangles
// are sorted by mark.
type marks struct {
	Count int         `json:"count"`
	Rects [][5]uint32 `json:"rects"`
}

func (d *session) sizes(ctx context.Context, doc io.ReaderAt, t task) error {
	sizes, err := document.PageSizes(ctx, d.source(doc, t), t.Extract)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(sizes, maxSizesPerFrame) {
		if err := d.send(frameSizes, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (d *session) marks(ctx context.Context, doc io.ReaderAt, t task) error {
	found, err := document.Highlights(ctx, d.source(doc, t), t.Page, t.Phrase, t.Extract)
	if err != nil {
		return err
	}
	return d.send(frameMarks, encodeMarks(found))
}

func encodeMarks(found [][]document.Rect) marks {
	m := marks{Count: min(len(found), document.MaxHighlights)}
	for i, rects := range found[:m.Count] {
		for _, r := range rects {
			if len(m.Rects) == maxRectsPerFrame {
				return m
			}
			encoded := [5]uint32{uint32(i)} // #nosec G115 -- bounded
			for k, side := range []float64{r.Left, r.Top, r.Right, r.Bottom} {
				encoded[1+k] = uint32(math.Round(side * pageUnits))
			}
			m.Rects = append(m.Rects, encoded)
		}
	}
	return m
}

// sizesResult collects the page sizes that a worker sends.
type sizesResult struct {
	maxPages int
	sizes    []document.PageSize
}

func (a *sizesResult) reset() { a.sizes = nil }

func (a *sizesResult) add(kind byte, content []byte, _ bool) error {
	if kind != frameSizes {
		return protocolError("frame %q while sizes are read", kind)
	}
	var sizes []document.PageSize
	if err := decode(content, &sizes); err != nil {
		return err
	}
	if i := slices.IndexFunc(sizes, func(s document.PageSize) bool { return !s.Valid() }); i >= 0 {
		return protocolError("page of %v by %v points", sizes[i].Width, sizes[i].Height)
	}
	if a.sizes = append(a.sizes, sizes...); len(sizes) == 0 || len(a.sizes) > a.maxPages {
		return protocolError("sizes of %d pages", len(a.sizes))
	}
	return nil
}

func (a *sizesResult) finish(taskDone) error {
	if len(a.sizes) == 0 {
		return protocolError("no sizes")
	}
	return nil
}

// marksResult collects the marks that a worker sends for one page.
type marksResult struct{ marks [][]document.Rect }

func (a *marksResult) reset() { a.marks = nil }

func (a *marksResult) add(kind byte, content []byte, _ bool) error {
	if kind != frameMarks || a.marks != nil {
		return protocolError("frame %q while marks are read", kind)
	}
	var m marks
	if err := decode(content, &m); err != nil {
		return err
	}
	if m.Count < 0 || m.Count > document.MaxHighlights {
		return protocolError("%d marks", m.Count)
	}
	a.marks = make([][]document.Rect, m.Count)
	last := uint32(0)
	for _, encoded := range m.Rects {
		i, side := encoded[0], func(k int) float64 { return float64(encoded[k]) / pageUnits }
		r := document.Rect{Left: side(1), Top: side(2), Right: side(3), Bottom: side(4)}
		if i < last || int64(i) >= int64(m.Count) || r.Left > r.Right || r.Right > 1 || r.Top > r.Bottom || r.Bottom > 1 {
			return protocolError("mark %d of %d at %v", i, m.Count, r)
		}
		last = i
		a.marks[i] = append(a.marks[i], r)
	}
	return nil
}

func (a *marksResult) finish(taskDone) error {
	if a.marks == nil {
		return protocolError("no marks")
	}
	return nil
}

// Sizes returns the size of each page. It returns the same errors as Picture.
func (p *Pool) Sizes(ctx context.Context, r Request, lim document.ExtractLimits) ([]document.PageSize, error) {
	lim = withDefaultLimits(lim)
	a := &sizesResult{maxPages: lim.MaxPages}
	if err := p.run(ctx, r, task{Task: taskSizes, Size: r.Size, MIME: r.MIME, Ext: r.Ext, Extract: lim}, a); err != nil {
		return nil, err
	}
	return a.sizes, nil
}

// Marks returns the rectangles of each occurrence of text on a page. Page numbers start at 1. Text
// longer than the maximum phrase is cut off. Marks returns the same errors as Picture.
func (p *Pool) Marks(ctx context.Context, r Request, page int, text string, lim document.ExtractLimits) ([][]document.Rect, error) {
	runes := []rune(text)
	t := task{
		Task: taskMarks, Size: r.Size, MIME: r.MIME, Ext: r.Ext, Extract: withDefaultLimits(lim), Page: page,
		Phrase: string(runes[:min(len(runes), phrase.MaxLength)]),
	}
	a := &marksResult{}
	if err := p.run(ctx, r, t, a); err != nil {
		return nil, err
	}
	return a.marks, nil
}
