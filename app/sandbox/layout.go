package sandbox

import (
	"context"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
	"deedkeep/app/search/query"
)

const (
	maxSizesPerFrame = 4096
	maxMarks         = 200 // on one page
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

func (s *session) sizes(ctx context.Context, doc io.ReaderAt, t task) error {
	sizes, err := document.PageSizes(ctx, s.source(doc, t), t.Extract)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(sizes, maxSizesPerFrame) {
		if err := s.send(frameSizes, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) marks(ctx context.Context, doc io.ReaderAt, t task) error {
	finder := query.NewFinder(t.Phrase, t.Words)
	found, err := document.Highlights(ctx, s.source(doc, t), t.Page, func(characters []rune) []pdf.Span {
		text := string(characters)
		spans, _ := finder.Find(ctx, text, maxMarks)
		return characterSpans(text, spans)
	}, t.Extract)
	if err != nil {
		return err
	}
	return s.send(frameMarks, encodeMarks(found))
}

// characterSpans converts ascending ranges of bytes to ranges of characters.
func characterSpans(text string, spans []query.Span) (converted []pdf.Span) {
	at, characters := 0, 0
	count := func(to int) int {
		characters += utf8.RuneCountInString(text[at:to])
		at = to
		return characters
	}
	for _, s := range spans {
		start := count(s.Start)
		converted = append(converted, pdf.Span{Start: start, End: count(s.End)})
	}
	return converted
}

func encodeMarks(found [][]document.Rect) marks {
	m := marks{Count: min(len(found), maxMarks)}
	for i, rects := range found[:m.Count] {
		for _, r := range rects {
			if len(m.Rects) == maxRectsPerFrame {
				return m
			}
			encoded := [5]uint32{uint32(i)} // bounded
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

func (sr *sizesResult) reset() { sr.sizes = nil }

func (sr *sizesResult) add(kind byte, content []byte, _ bool) error {
	if kind != frameSizes {
		return protocolError("unexpected frame %q while reading page sizes", kind)
	}
	var sizes []document.PageSize
	if err := decode(content, &sizes); err != nil {
		return err
	}
	if i := slices.IndexFunc(sizes, func(s document.PageSize) bool { return !s.Valid() }); i >= 0 {
		return protocolError("invalid page size: %v by %v points", sizes[i].Width, sizes[i].Height)
	}
	if sr.sizes = append(sr.sizes, sizes...); len(sizes) == 0 || len(sr.sizes) > sr.maxPages {
		return protocolError("invalid number of page sizes: %d", len(sr.sizes))
	}
	return nil
}

func (sr *sizesResult) finish(taskDone) error {
	if len(sr.sizes) == 0 {
		return protocolError("no page sizes received")
	}
	return nil
}

// marksResult collects the marks that a worker sends for one page.
type marksResult struct{ marks [][]document.Rect }

func (mr *marksResult) reset() { mr.marks = nil }

func (mr *marksResult) add(kind byte, content []byte, _ bool) error {
	if kind != frameMarks || mr.marks != nil {
		return protocolError("unexpected frame %q while reading marks", kind)
	}
	var m marks
	if err := decode(content, &m); err != nil {
		return err
	}
	if m.Count < 0 || m.Count > maxMarks {
		return protocolError("invalid number of marks: %d", m.Count)
	}
	mr.marks = make([][]document.Rect, m.Count)
	last := uint32(0)
	for _, encoded := range m.Rects {
		i, side := encoded[0], func(k int) float64 { return float64(encoded[k]) / pageUnits }
		r := document.Rect{Left: side(1), Top: side(2), Right: side(3), Bottom: side(4)}
		if i < last || int64(i) >= int64(m.Count) || r.Left > r.Right || r.Right > 1 || r.Top > r.Bottom || r.Bottom > 1 {
			return protocolError("invalid mark %d of %d at %v", i, m.Count, r)
		}
		last = i
		mr.marks[i] = append(mr.marks[i], r)
	}
	return nil
}

func (mr *marksResult) finish(taskDone) error {
	if mr.marks == nil {
		return protocolError("no marks received")
	}
	return nil
}

// Sizes returns the size of each page. It returns the same errors as PageImage.
func (p *Pool) Sizes(ctx context.Context, r Request, lim document.ExtractLimits) ([]document.PageSize, error) {
	lim = withDefaultLimits(lim)
	a := &sizesResult{maxPages: lim.MaxPages}
	if err := p.run(ctx, r, task{Task: taskSizes, Extract: lim}, a); err != nil {
		return nil, err
	}
	return a.sizes, nil
}

// Marks returns the rectangles of each match of a text, or of its words, on a page (query.NewFinder).
// Page numbers start at 1. Marks returns the same errors as PageImage.
func (p *Pool) Marks(ctx context.Context, r Request, page int, text string, words bool, lim document.ExtractLimits) ([][]document.Rect, error) {
	runes := []rune(text)
	t := task{
		Task: taskMarks, Extract: withDefaultLimits(lim), Page: page,
		Phrase: string(runes[:min(len(runes), query.MaxFindLength)]), Words: words,
	}
	a := &marksResult{}
	if err := p.run(ctx, r, t, a); err != nil {
		return nil, err
	}
	return a.marks, nil
}
