package sandbox

import (
	"context"
	"encoding/binary"
	"io"
	"math"

	"deedkeep/app/document"
	"deedkeep/app/document/phrase"
)

// An encoded page size has 20 bytes, big-endian: the width and height in points as 64-bit floats,
// and the pixel width of the image that fills the page as a 32-bit integer.
//
// Encoded marks begin with the number of marks in 16 bits. For each rectangle, the index of its
// mark follows in 16 bits, then left, top, right, and bottom in 32 bits each. The unit is
// 1/pageUnits of the page's width or height. Rectangles are sorted by mark.
const (
	pageSizeSize     = 20
	maxSizesPerFrame = 4096
	rectSize         = 18
	maxRectsPerFrame = 8192
	pageUnits        = 1 << 20
)

func (d *session) sizes(ctx context.Context, doc io.ReaderAt, t task) error {
	sizes, err := document.PageSizes(ctx, d.source(doc, t), t.Extract)
	if err != nil {
		return err
	}
	for len(sizes) > 0 {
		n := min(len(sizes), maxSizesPerFrame)
		if err := d.write(frameSizes, encodeSizes(sizes[:n])); err != nil {
			return err
		}
		sizes = sizes[n:]
	}
	return nil
}

func (d *session) marks(ctx context.Context, doc io.ReaderAt, t task) error {
	marks, err := document.Highlights(ctx, d.source(doc, t), t.Page, t.Phrase, t.Extract)
	if err != nil {
		return err
	}
	return d.write(frameMarks, encodeMarks(marks))
}

func encodeSizes(sizes []document.PageSize) []byte {
	b := make([]byte, 0, pageSizeSize*len(sizes))
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Width))
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Height))
		b = binary.BigEndian.AppendUint32(b, uint32(s.ImageWidth)) // #nosec G115 -- document.PageSizes returns valid sizes
	}
	return b
}

func encodeMarks(marks [][]document.Rect) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(min(len(marks), document.MaxHighlights))) // #nosec G115 -- bounded
	for i, rects := range marks[:min(len(marks), document.MaxHighlights)] {
		for _, r := range rects {
			if len(b) >= 2+rectSize*maxRectsPerFrame {
				return b
			}
			b = binary.BigEndian.AppendUint16(b, uint16(i)) // #nosec G115 -- bounded
			for _, side := range []float64{r.Left, r.Top, r.Right, r.Bottom} {
				b = binary.BigEndian.AppendUint32(b, uint32(math.Round(side*pageUnits)))
			}
		}
	}
	return b
}

// sizesResult collects the page sizes that a worker sends.
type sizesResult struct {
	maxPages int
	sizes    []document.PageSize
}

func (a *sizesResult) reset() { a.sizes = nil }

func (a *sizesResult) add(kind byte, content []byte, _ bool) error {
	if kind != frameSizes || len(content) == 0 || len(content)%pageSizeSize != 0 {
		return protocolError("frame %q of %d bytes while sizes are read", kind, len(content))
	}
	for ; len(content) > 0; content = content[pageSizeSize:] {
		be := binary.BigEndian
		s := document.PageSize{
			Width: math.Float64frombits(be.Uint64(content)), Height: math.Float64frombits(be.Uint64(content[8:])),
			ImageWidth: int(be.Uint32(content[16:])),
		}
		if !s.Valid() {
			return protocolError("page of %v by %v points", s.Width, s.Height)
		}
		a.sizes = append(a.sizes, s)
	}
	if len(a.sizes) > a.maxPages {
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
	if kind != frameMarks || a.marks != nil || len(content) < 2 || (len(content)-2)%rectSize != 0 {
		return protocolError("frame %q of %d bytes while marks are read", kind, len(content))
	}
	n, last := int(binary.BigEndian.Uint16(content)), 0
	if n > document.MaxHighlights {
		return protocolError("%d marks", n)
	}
	a.marks = make([][]document.Rect, n)
	for content = content[2:]; len(content) > 0; content = content[rectSize:] {
		var sides [4]float64
		for k := range sides {
			sides[k] = float64(binary.BigEndian.Uint32(content[2+4*k:])) / pageUnits
		}
		r := document.Rect{Left: sides[0], Top: sides[1], Right: sides[2], Bottom: sides[3]}
		i := int(binary.BigEndian.Uint16(content))
		if i < last || i >= n || r.Left > r.Right || r.Right > 1 || r.Top > r.Bottom || r.Bottom > 1 {
			return protocolError("mark %d of %d at %v", i, n, r)
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
