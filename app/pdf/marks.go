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
	}, func() error { return errClosed })
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
	characters := make([]rune, 0, min(max(int32(count), 0), maxCharacters))
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
		span, cut, err := d.expandToWords(ctx, handle, characters, span)
		if err != nil {
			return nil, err
		}
		rects, err := d.readRects(ctx, page, handle, span)
		if err == nil && cut && len(rects) > 0 {
			err = d.addLastLetter(ctx, page, handle, span, &rects[len(rects)-1])
		}
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
	maxLetters = 100 // maximum number of characters by which a span grows at each end
	invisible  = 3   // text rendering mode of OCR text on a scanned image
)

// expandToWords expands a span to complete words if its ends are in the invisible text of a scan.
// OCR knows the position of each word on the image and spreads the word's letters evenly over that
// area, so a partial word might end in the middle of a letter. For Tesseract, the space after a
// word is part of the word's area, so the span includes it. At the end of a line, PDFium omits the
// space, and cut is true.
func (d *Document) expandToWords(ctx context.Context, text uint32, characters []rune, span Span) (_ Span, cut bool, err error) {
	inWord := func(i int) bool {
		return i >= 0 && i < len(characters) && characters[i] > ' ' && !unicode.IsSpace(characters[i])
	}
	first, err := d.invisibleObject(ctx, text, span.Start)
	if err != nil {
		return span, false, err
	}
	last, err := d.invisibleObject(ctx, text, span.End-1)
	if err != nil {
		return span, false, err
	}
	for n := 0; first != 0 && n < maxLetters && inWord(span.Start) && inWord(span.Start-1); n++ {
		span.Start--
	}
	for n := 0; last != 0 && n < maxLetters && inWord(span.End-1) && inWord(span.End); n++ {
		span.End++
	}
	switch {
	case last == 0 || !inWord(span.End-1) || inWord(span.End):
	case span.End == len(characters) || characters[span.End] != ' ':
		cut = true
	default:
		blank, err := d.invisibleObject(ctx, text, span.End)
		if err != nil {
			return span, false, err
		}
		if blank == last {
			span.End++
		}
	}
	return span, cut, nil
}

// addLastLetter widens the last rectangle of a span by the width of its last letter.
func (d *Document) addLastLetter(ctx context.Context, page, text uint32, span Span, rect *Rect) error {
	if span.End-span.Start < 2 {
		return nil
	}
	before, err := d.doubles(ctx, 2, "FPDFText_GetCharOrigin", text, span.End-2)
	if err != nil || before == nil {
		return err
	}
	origin, err := d.doubles(ctx, 2, "FPDFText_GetCharOrigin", text, span.End-1)
	if err != nil || origin == nil {
		return err
	}
	box, err := d.doubles(ctx, 4, "FPDFText_GetCharBox", text, span.End-1) // left, right, bottom, top
	if err != nil || box == nil {
		return err
	}
	x, y := origin[0]-before[0], origin[1]-before[1]
	if math.Hypot(x, y) > 2*math.Hypot(box[1]-box[0], box[3]-box[2]) {
		return nil // the two letters are on different lines
	}
	next, err := d.toUpright(ctx, page, [4]float64{box[0] + x, box[3] + y, box[1] + x, box[2] + y})
	if err == nil {
		*rect = Rect{min(rect.Left, next.Left), min(rect.Top, next.Top), max(rect.Right, next.Right), max(rect.Bottom, next.Bottom)}
	}
	return err
}

// doubles returns the n numbers that a PDFium function reports for a character, or nil if the
// function fails for that character.
func (d *Document) doubles(ctx context.Context, n int, name string, text uint32, at int) ([]float64, error) {
	args := []uint32{text, uint32(at)} // #nosec G115 -- within the page
	for i := range n {
		args = append(args, d.in.scratch+8*uint32(i)) // #nosec G115 -- a few
	}
	ok, err := d.in.call(ctx, name, args...)
	if err != nil || ok == 0 {
		return nil, err
	}
	raw, read := d.in.memory.Read(d.in.scratch, 8*uint32(n)) // #nosec G115 -- a few
	if !read {
		return nil, &faultError{name, errors.New("out of bounds")}
	}
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return numbers, nil
}

// invisibleObject returns the text object of a character if the object is invisible, else 0.
func (d *Document) invisibleObject(ctx context.Context, text uint32, at int) (object uint32, err error) {
	object, err = d.in.call(ctx, "FPDFText_GetTextObject", text, uint32(at)) // #nosec G115 -- within the page
	if err != nil || object == 0 {
		return 0, err // if object is 0, PDFium inserted the character
	}
	mode, err := d.in.call(ctx, "FPDFTextObj_GetTextRenderMode", object)
	if err != nil || mode != invisible {
		return 0, err
	}
	return object, nil
}

// readRects returns the rectangles of a span. PDFium keeps them until FPDFText_CountRects is called
// for another span.
func (d *Document) readRects(ctx context.Context, page, text uint32, span Span) ([]Rect, error) {
	n, err := d.in.call(ctx, "FPDFText_CountRects", text, uint32(span.Start), uint32(span.End-span.Start)) // #nosec G115 -- within the page
	if err != nil {
		return nil, err
	}
	var rects []Rect
	for i := range min(max(int32(n), 0), maxRects) { // #nosec G115 -- negative: none
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
		var sides [4]float64 // left, top, right, bottom in points, measured from the lower left corner
		for k := range sides {
			sides[k] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*k:]))
		}
		rect, err := d.toUpright(ctx, page, sides)
		if err != nil {
			return nil, err
		}
		if rect.Right > rect.Left && rect.Bottom > rect.Top {
			rects = append(rects, rect)
		}
	}
	return rects, nil
}

// devicePage is the width and height of the device to which PDFium maps a page. Its coordinates are
// integers, from which fractions of the page are computed.
const devicePage = 1 << 20

// toUpright converts two corners in page coordinates to a rectangle on the upright page.
func (d *Document) toUpright(ctx context.Context, page uint32, sides [4]float64) (Rect, error) {
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

// toDevice converts a point in page coordinates to fractions of the width and height of the upright
// page.
func (d *Document) toDevice(ctx context.Context, page uint32, x, y float64) (fx, fy float64, err error) {
	at := uint64(d.in.scratch)
	stack := []uint64{uint64(page), 0, 0, devicePage, devicePage, 0, api.EncodeF64(x), api.EncodeF64(y), at, at + 4}
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

// fraction returns a device coordinate as a fraction, limited to the page.
func fraction(v uint32) float64 { return min(max(float64(int32(v))/devicePage, 0), 1) } // #nosec G115 -- a signed number
