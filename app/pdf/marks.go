package pdf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode"

	"github.com/tetratelabs/wazero/api"
)

// Span is a run of characters: from Start up to, and without, End.
type Span struct{ Start, End int }

// Rect is a rectangle on a page as it is to be looked at, that is turned by its
// /Rotate: in fractions of its width and height from the upper left corner.
type Rect struct{ Left, Top, Right, Bottom float64 }

// Bounds of what Marks looks at.
const (
	mostCharacters = 1 << 19 // of a page
	mostRects      = 1 << 10 // of one span
)

// Marks hands the characters of a page (from 1) to find, in the order of Text and
// without what was typed into fields, and returns where each span that find gives
// stands: a rectangle for each line of it, none for what is not to be seen. It
// returns ErrUnreadable when the page cannot be loaded.
func (d *Document) Marks(ctx context.Context, page int, find func(text []rune) []Span) ([][]Rect, error) {
	var marks [][]Rect
	loaded := false
	err := d.do(ctx, func() error {
		if page < 1 || page > d.pages {
			return fmt.Errorf("%w: no page %d of %d", ErrUnreadable, page, d.pages)
		}
		err := d.page(ctx, page-1, func(handle uint32) (err error) {
			loaded = true
			marks, err = d.readMarks(ctx, handle, find)
			return err
		})
		if err == nil && !loaded {
			err = fmt.Errorf("%w: page %d cannot be loaded", ErrUnreadable, page)
		}
		return err
	}, func() error { return errGone })
	if err != nil {
		return nil, err
	}
	return marks, nil
}

func (d *Document) readMarks(ctx context.Context, page uint32, find func([]rune) []Span) ([][]Rect, error) {
	handle, err := d.in.call(ctx, "FPDFText_LoadPage", page)
	if err != nil || handle == 0 {
		return nil, err
	}
	count, err := d.in.call(ctx, "FPDFText_CountChars", handle)
	if err != nil {
		return nil, err
	}
	characters := make([]rune, 0, min(max(int32(count), 0), mostCharacters))
	for i := range cap(characters) {
		c, err := d.in.call(ctx, "FPDFText_GetUnicode", handle, uint32(i)) // #nosec G115 -- bounded above
		if err != nil {
			return nil, err
		}
		if c == lineHyphen || c == 0xFFFE {
			c = '-'
		}
		characters = append(characters, rune(c&0x1FFFFF)) // #nosec G115 -- 21 bits
	}
	var marks [][]Rect
	for _, span := range find(characters) {
		if span.Start < 0 || span.End <= span.Start || span.End > len(characters) || ctx.Err() != nil {
			break
		}
		if span, err = d.laidOut(ctx, handle, characters, span); err != nil {
			return nil, err
		}
		rects, err := d.readRects(ctx, page, handle, span)
		if err != nil {
			return nil, err
		}
		marks = append(marks, rects)
	}
	if _, err := d.in.call(ctx, "FPDFText_ClosePage", handle); err != nil {
		return nil, err
	}
	return marks, ctx.Err()
}

const (
	mostLetters = 100 // of a word that a span grows to
	invisible   = 3   // the mode in which text is drawn that a scan has over its picture
)

// laidOut grows a span to the words that it begins and ends in where their text is the
// invisible layer of a scan: OCR says where a word stands on the picture, and spreads its
// letters evenly over that, so that a part of it would end in the middle of a letter.
func (d *Document) laidOut(ctx context.Context, text uint32, characters []rune, span Span) (Span, error) {
	inWord := func(i int) bool {
		return i >= 0 && i < len(characters) && characters[i] > ' ' && !unicode.IsSpace(characters[i])
	}
	start, end := span.Start, span.End
	for inWord(start) && inWord(start-1) && span.Start-start < mostLetters {
		start--
	}
	for inWord(end-1) && inWord(end) && end-span.End < mostLetters {
		end++
	}
	for _, side := range []struct {
		grows bool
		at    int
		grow  func()
	}{
		{start < span.Start, span.Start, func() { span.Start = start }},
		{end > span.End, span.End - 1, func() { span.End = end }},
	} {
		if !side.grows {
			continue
		}
		object, err := d.in.call(ctx, "FPDFText_GetTextObject", text, uint32(side.at)) // #nosec G115 -- within the page
		if err != nil {
			return span, err
		}
		if object == 0 {
			continue // made up by PDFium
		}
		mode, err := d.in.call(ctx, "FPDFTextObj_GetTextRenderMode", object)
		if err != nil {
			return span, err
		}
		if mode == invisible {
			side.grow()
		}
	}
	return span, nil
}

// readRects asks for the rectangles of a span, which PDFium keeps until the next
// one is counted.
func (d *Document) readRects(ctx context.Context, page, text uint32, span Span) ([]Rect, error) {
	n, err := d.in.call(ctx, "FPDFText_CountRects", text, uint32(span.Start), uint32(span.End-span.Start)) // #nosec G115 -- within the page
	if err != nil {
		return nil, err
	}
	var rects []Rect
	for i := range min(max(int32(n), 0), mostRects) { // #nosec G115 -- negative says none
		at := d.in.scratch
		ok, err := d.in.call(ctx, "FPDFText_GetRect", text, uint32(i), at, at+8, at+16, at+24) // #nosec G115 -- not negative
		if err != nil {
			return nil, err
		}
		if ok == 0 {
			continue
		}
		raw, read := d.in.memory.Read(at, 32)
		if !read {
			return nil, &faultError{"FPDFText_GetRect", errors.New("out of bounds")}
		}
		var sides [4]float64 // left, top, right, bottom in points from the lower left
		for k := range sides {
			sides[k] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*k:]))
		}
		rect, err := d.toLookedAt(ctx, page, sides)
		if err != nil {
			return nil, err
		}
		if rect.Right > rect.Left && rect.Bottom > rect.Top {
			rects = append(rects, rect)
		}
	}
	return rects, nil
}

// wholePage is the width and height that a page is taken to have, in whole
// numbers, of which fractions are made.
const wholePage = 1 << 20

// toLookedAt turns two corners of the page's own space into a rectangle.
func (d *Document) toLookedAt(ctx context.Context, page uint32, sides [4]float64) (Rect, error) {
	x1, y1, err := d.toDevice(ctx, page, sides[0], sides[1])
	if err != nil {
		return Rect{}, err
	}
	x2, y2, err := d.toDevice(ctx, page, sides[2], sides[3])
	if err != nil {
		return Rect{}, err
	}
	return Rect{min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)}, nil
}

func (d *Document) toDevice(ctx context.Context, page uint32, x, y float64) (fx, fy float64, err error) {
	at := uint64(d.in.scratch)
	stack := []uint64{uint64(page), 0, 0, wholePage, wholePage, 0, api.EncodeF64(x), api.EncodeF64(y), at, at + 4}
	ok, err := d.in.callStack(ctx, "FPDF_PageToDevice", stack)
	if err != nil || ok == 0 {
		return 0, 0, err
	}
	a, readA := d.in.memory.ReadUint32Le(d.in.scratch)
	b, readB := d.in.memory.ReadUint32Le(d.in.scratch + 4)
	if !readA || !readB {
		return 0, 0, &faultError{"FPDF_PageToDevice", errors.New("out of bounds")}
	}
	return fraction(a), fraction(b), nil
}

// fraction keeps what sticks out of the page within it.
func fraction(v uint32) float64 { return min(max(float64(int32(v))/wholePage, 0), 1) } // #nosec G115 -- a signed number
