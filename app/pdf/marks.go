package pdf

import (
	"context"
	"encoding/binary"
	"math"
	"unicode"

	"github.com/tetratelabs/wazero/api"
)

// Span is a range of characters. It does not include the character at End.
type Span struct{ Start, End int }

// Rect is a rectangle on an upright page (after applying /Rotate). The coordinates are fractions of
// the page's width and height from 0 to 1, measured from the upper left corner.
type Rect struct{ Left, Top, Right, Bottom float64 }

// Limits of Marks.
const (
	maxCharacters = 1 << 19 // maximum number of characters on a page
	maxRects      = 1 << 10 // maximum number of rectangles of one span
)

// Marks calls find with the characters of a page and returns the positions of the spans that find
// returns. The characters are in the order of Text, without the contents of form fields. For each
// span, Marks returns one rectangle per line, or none if the span isn't visible. It returns
// ErrUnreadable if the page can't be loaded.
func (d *Document) Marks(ctx context.Context, page int, find func(text []rune) []Span) ([][]Rect, error) {
	var marks [][]Rect
	err := d.do(ctx, func() error {
		return d.page(ctx, page, func(handle uint32) error {
			marks = d.readMarks(ctx, handle, find)
			return ctx.Err()
		})
	})
	if err != nil {
		return nil, err
	}
	return marks, nil
}

// pageText is the text of a loaded page.
type pageText struct {
	in           *instance
	page, handle uint32
	characters   []rune
}

func (d *Document) readMarks(ctx context.Context, page uint32, find func([]rune) []Span) (marks [][]Rect) {
	t := pageText{in: d.in, page: page, handle: d.in.Call(ctx, "FPDFText_LoadPage", page)}
	if t.handle == 0 {
		return nil
	}
	count := int32(d.in.Call(ctx, "FPDFText_CountChars", t.handle))
	for i := range min(count, maxCharacters) {
		c := d.in.Call(ctx, "FPDFText_GetUnicode", t.handle, uint32(i))
		if c == lineHyphen || c == 0xFFFE {
			c = '-'
		}
		t.characters = append(t.characters, rune(c&0x1FFFFF))
	}
	for _, span := range find(t.characters) {
		if span.Start < 0 || span.End <= span.Start || span.End > len(t.characters) || ctx.Err() != nil {
			break
		}
		span, cut := t.expandToWords(ctx, span)
		rects := t.rects(ctx, span)
		if cut && len(rects) > 0 {
			t.addLastLetter(ctx, span, &rects[len(rects)-1])
		}
		marks = append(marks, rects)
	}
	d.in.Call(ctx, "FPDFText_ClosePage", t.handle)
	return marks
}

const (
	maxLetters = 100 // maximum number of characters by which a span grows at each end
	invisible  = 3   // text rendering mode of OCR text on a scanned image
)

// expandToWords expands a span to complete words if its ends are in the invisible text of a scan.
// OCR knows the position of each word on the image and spreads the word's letters evenly over that
// area, so a partial word might end in the middle of a letter. For Tesseract, the space after a
// word is part of the word's area, so the span includes it. At the end of a line, PDFium omits the
// space, and cut is true.
func (t *pageText) expandToWords(ctx context.Context, span Span) (_ Span, cut bool) {
	inWord := func(i int) bool {
		return i >= 0 && i < len(t.characters) && t.characters[i] > ' ' && !unicode.IsSpace(t.characters[i])
	}
	first, last := t.invisibleObject(ctx, span.Start), t.invisibleObject(ctx, span.End-1)
	for n := 0; first != 0 && n < maxLetters && inWord(span.Start) && inWord(span.Start-1); n++ {
		span.Start--
	}
	for n := 0; last != 0 && n < maxLetters && inWord(span.End-1) && inWord(span.End); n++ {
		span.End++
	}
	switch {
	case last == 0 || !inWord(span.End-1) || inWord(span.End):
	case span.End == len(t.characters) || t.characters[span.End] != ' ':
		cut = true
	case t.invisibleObject(ctx, span.End) == last:
		span.End++
	}
	return span, cut
}

// addLastLetter widens the last rectangle of a span by the width of its last letter.
func (t *pageText) addLastLetter(ctx context.Context, span Span, rect *Rect) {
	if span.End-span.Start < 2 {
		return
	}
	before := t.doubles(ctx, 2, "FPDFText_GetCharOrigin", span.End-2)
	origin := t.doubles(ctx, 2, "FPDFText_GetCharOrigin", span.End-1)
	box := t.doubles(ctx, 4, "FPDFText_GetCharBox", span.End-1) // left, right, bottom, top
	if before == nil || origin == nil || box == nil {
		return
	}
	x, y := origin[0]-before[0], origin[1]-before[1]
	if math.Hypot(x, y) > 2*math.Hypot(box[1]-box[0], box[3]-box[2]) {
		return // the two letters are on different lines
	}
	next := t.upright(ctx, box[0]+x, box[3]+y, box[1]+x, box[2]+y)
	*rect = Rect{min(rect.Left, next.Left), min(rect.Top, next.Top), max(rect.Right, next.Right), max(rect.Bottom, next.Bottom)}
}

// doubles returns the n numbers that a PDFium function reports for the item with the index at, or
// nil if the function fails for that item.
func (t *pageText) doubles(ctx context.Context, n int, name string, at int) []float64 {
	args := []uint32{t.handle, uint32(at)}
	for i := range n {
		args = append(args, t.in.scratch+8*uint32(i))
	}
	if t.in.Call(ctx, name, args...) == 0 {
		return nil
	}
	return t.in.doubles(n)
}

// invisibleObject returns the text object of a character if the object is invisible, else 0.
func (t *pageText) invisibleObject(ctx context.Context, at int) uint32 {
	object := t.in.Call(ctx, "FPDFText_GetTextObject", t.handle, uint32(at))
	// If object is 0, PDFium inserted the character.
	if object != 0 && t.in.Call(ctx, "FPDFTextObj_GetTextRenderMode", object) != invisible {
		return 0
	}
	return object
}

// rects returns the rectangles of a span. PDFium keeps them until FPDFText_CountRects is called for
// another span.
func (t *pageText) rects(ctx context.Context, span Span) (rects []Rect) {
	n := int32(t.in.Call(ctx, "FPDFText_CountRects", t.handle, uint32(span.Start), uint32(span.End-span.Start)))
	for i := range min(n, maxRects) {
		// In points, measured from the lower left corner.
		sides := t.doubles(ctx, 4, "FPDFText_GetRect", int(i)) // left, top, right, bottom
		if sides == nil {
			continue
		}
		if rect := t.upright(ctx, sides[0], sides[1], sides[2], sides[3]); rect.Right > rect.Left && rect.Bottom > rect.Top {
			rects = append(rects, rect)
		}
	}
	return rects
}

// devicePage is the width and height of the device to which PDFium maps a page. Its coordinates are
// integers, from which fractions of the page are computed.
const devicePage = 1 << 20

// upright converts two corners in page coordinates to a rectangle on the upright page.
func (t *pageText) upright(ctx context.Context, left, top, right, bottom float64) Rect {
	x1, y1 := t.toDevice(ctx, left, top)
	x2, y2 := t.toDevice(ctx, right, bottom)
	return Rect{min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)}
}

// toDevice converts a point in page coordinates to fractions of the width and height of the upright
// page.
func (t *pageText) toDevice(ctx context.Context, x, y float64) (fx, fy float64) {
	at := uint64(t.in.scratch)
	stack := []uint64{uint64(t.page), 0, 0, devicePage, devicePage, 0, api.EncodeF64(x), api.EncodeF64(y), at, at + 4}
	if t.in.CallStack(ctx, "FPDF_PageToDevice", stack) == 0 {
		return 0, 0
	}
	raw := t.in.Read(t.in.scratch, 8)
	return fraction(binary.LittleEndian.Uint32(raw)), fraction(binary.LittleEndian.Uint32(raw[4:]))
}

// fraction returns a device coordinate as a fraction, limited to the page.
func fraction(v uint32) float64 { return min(max(float64(int32(v))/devicePage, 0), 1) }
