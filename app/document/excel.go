package document

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Records of a Workbook stream ([MS-XLS] 2.3): type:2, length:2, content.
const (
	biffFormula   = 0x0006
	biffEOF       = 0x000A
	biffDateMode  = 0x0022
	biffPassword  = 0x002F
	biffContinue  = 0x003C
	biffSheet     = 0x0085
	biffMulRK     = 0x00BD
	biffRString   = 0x00D6
	biffXF        = 0x00E0
	biffSST       = 0x00FC
	biffLabelSST  = 0x00FD
	biffNumber    = 0x0203
	biffLabel     = 0x0204
	biffBool      = 0x0205
	biffString    = 0x0207
	biffRK        = 0x027E
	biffFormat    = 0x041E
	biffBOF       = 0x0809
	biffVersion8  = 0x0600
	biffFullWidth = 1 // flag of a string: two bytes a character
)

// xlsBook is what the sheets of a .xls share.
type xlsBook struct {
	stream  records
	wide    bool // BIFF8, else 8-bit strings as by Excel 5 and 95
	sheets  []xlsSheet
	strings []string
	formats map[int]bool // own formats: whether they show dates
	dates   []bool       // by XF
	mac     bool
	budget  int // bytes of sheets that may still be read
}

type xlsSheet struct {
	name string
	at   int
}

func openXLS(doc *source, lim ExtractLimits) (*xlsBook, error) {
	streams, err := openOLE(doc)
	if err != nil {
		return nil, err
	}
	stream, err := streams.read(lim, "workbook", "book")
	if err != nil {
		return nil, err
	}
	return readBook(stream)
}

func readBook(stream records) (*xlsBook, error) {
	b := &xlsBook{stream: stream, formats: make(map[int]bool), budget: 2 * len(stream)}
	err := b.globals()
	return b, err
}

func xlsPages(doc *source, lim ExtractLimits) (int, error) {
	b, err := openXLS(doc, lim)
	if err != nil {
		return 0, err
	}
	return len(b.sheets), nil
}

// xlsText gives a page for each sheet: its name, then a line for each row,
// cells parted by tabs.
func xlsText(doc *source, out *writer) error {
	b, err := openXLS(doc, out.lim)
	if err != nil {
		return err
	}
	return b.text(out)
}

func (b *xlsBook) text(out *writer) error {
	for i, s := range b.sheets {
		if i >= out.lim.MaxPages || out.full() || b.budget <= 0 {
			out.cut = true
			return nil
		}
		if err := out.begin(i + 1); err != nil {
			return err
		}
		out.text(s.name + "\n")
		b.cells(s.at, out)
	}
	return nil
}

// record returns the record at a place and where the next one stands; ok is
// false behind the last one.
func (r records) record(at int) (kind int, content records, next int, ok bool) {
	if r.span(at, 4) == nil {
		return 0, nil, 0, false
	}
	kind, length := r.u16(at), r.u16(at+2)
	content = r.span(at+4, min(length, len(r)-at-4))
	return kind, content, at + 4 + length, true
}

// globals reads the first substream: what stands before the sheets.
func (b *xlsBook) globals() error {
	for at := 0; ; {
		kind, c, next, ok := b.stream.record(at)
		if !ok || kind == biffEOF {
			return nil
		}
		if at == 0 && kind != biffBOF {
			return fmt.Errorf("%w: workbook of Excel 4 or older", ErrUnsupported)
		}
		switch kind {
		case biffBOF:
			b.wide = c.u16(0) == biffVersion8
		case biffPassword:
			return fmt.Errorf("%w: workbook with a password", ErrUnsupported)
		case biffDateMode:
			b.mac = c.u16(0) == 1
		case biffSheet:
			if len(c) > 6 && len(b.sheets) < relations {
				b.sheets = append(b.sheets, xlsSheet{b.short(c[6:]), c.u32(0)})
			}
		case biffFormat:
			if len(c) > 2 && len(b.formats) < relations {
				b.formats[c.u16(0)] = isDateFormat(b.string(c[2:]))
			}
		case biffXF:
			date, own := b.formats[c.u16(2)]
			if !own {
				date = isDateID(c.u16(2))
			}
			b.dates = append(b.dates, date)
		case biffSST:
			next = b.shared(c, next)
		}
		at = next
	}
}

// short reads a string with a length of one byte ([MS-XLS] 2.5.240).
func (b *xlsBook) short(c records) string {
	if len(c) == 0 {
		return ""
	}
	return b.characters(c[1:], int(c[0]))
}

// string reads a string with a length of two bytes ([MS-XLS] 2.5.294).
func (b *xlsBook) string(c records) string {
	if len(c) < 2 {
		return ""
	}
	return b.characters(c[2:], c.u16(0))
}

func (b *xlsBook) characters(c records, n int) string {
	if !b.wide {
		return decode1252(c[:min(n, len(c))])
	}
	if len(c) == 0 {
		return ""
	}
	flags, c := c[0], c[1:]
	if flags&biffFullWidth != 0 {
		return decodeUTF16(c[:min(2*n, len(c))], binary.LittleEndian)
	}
	return latin1(c[:min(n, len(c))])
}

// latin1 decodes UTF-16 of which the upper bytes, all zero, were left out.
func latin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

// cells writes the cells of the sheet at a place. A chart within it is a
// substream of its own.
func (b *xlsBook) cells(at int, out *writer) {
	s := xlsRow{book: b, out: out, row: -1}
	depth := 0
	for b.budget > 0 && !out.pageFull() {
		kind, c, next, ok := b.stream.record(at)
		if !ok {
			return
		}
		b.budget -= next - at
		at = next
		switch kind {
		case biffBOF:
			depth++
		case biffEOF:
			if depth--; depth <= 0 {
				return
			}
		default:
			if depth == 1 {
				s.record(kind, c)
			}
		}
	}
	out.cut = true
}

// xlsRow writes one cell after another.
type xlsRow struct {
	book    *xlsBook
	out     *writer
	row     int
	formula records // the last one that has no number as its result
}

// put writes a cell of the row that c begins with: row:2 column:2 XF:2.
func (s *xlsRow) put(c records, text string) {
	if text == "" {
		return
	}
	if row := c.u16(0); row != s.row {
		if s.row >= 0 {
			s.out.text("\n")
		}
		s.row = row
	} else {
		s.out.text("\t")
	}
	s.out.text(text)
}

func (s *xlsRow) record(kind int, c records) {
	b := s.book
	switch kind {
	case biffLabelSST:
		if i := c.u32(6); len(c) >= 10 && i < len(b.strings) {
			s.put(c, b.strings[i])
		}
	case biffLabel, biffRString:
		if len(c) > 6 {
			s.put(c, b.string(c[6:]))
		}
	case biffNumber, biffFormula:
		if len(c) >= 14 {
			s.put(c, s.result(kind, c))
		}
	case biffString: // the result of the formula before
		s.put(s.formula, b.string(c))
	case biffRK:
		if len(c) >= 10 {
			s.put(c, b.number(rk(c.u32(6)), c.u16(4)))
		}
	case biffMulRK:
		for at := 4; at+8 <= len(c); at += 6 {
			s.put(c, b.number(rk(c.u32(at+2)), c.u16(at)))
		}
	case biffBool:
		if len(c) >= 8 && c[7] == 0 {
			s.put(c, showBool(c[6] != 0))
		}
	}
}

// result returns the value of a NUMBER or FORMULA record; of a formula it may
// be no number ([MS-XLS] 2.5.133).
func (s *xlsRow) result(kind int, c records) string {
	if kind == biffFormula && c.u16(12) == 0xFFFF {
		s.formula = c
		if c[6] == 1 {
			return showBool(c[8] != 0)
		}
		return ""
	}
	return s.book.number(math.Float64frombits(binary.LittleEndian.Uint64(c[6:])), c.u16(4))
}

func (b *xlsBook) number(v float64, xf int) string {
	return showNumber(v, xf < len(b.dates) && b.dates[xf], b.mac)
}

// rk decodes a number of 30 bits: bit 0 says divided by 100, bit 1 a whole
// number, else the upper bits of a float ([MS-XLS] 2.5.217).
func rk(v int) float64 {
	var f float64
	if v&2 != 0 {
		f = float64(int32(uint32(v)) >> 2)
	} else {
		f = math.Float64frombits(uint64(v&^3) << 32)
	}
	if v&1 != 0 {
		f /= 100
	}
	return f
}

// sstReader reads the shared strings of a .xls ([MS-XLS] 2.4.265), which one
// record begins and others continue. Where a continuation breaks characters
// off, it begins with the flags of the string once more; it may change from
// one byte a character to two.
type sstReader struct {
	segments []records
}

// shared reads the record SST, of which content is the first part, and its
// continuations from next on; it returns where the record after them stands.
func (b *xlsBook) shared(content records, next int) int {
	r := &sstReader{segments: []records{content}}
	for {
		kind, more, after, ok := b.stream.record(next)
		if !ok || kind != biffContinue {
			break
		}
		r.segments = append(r.segments, more)
		next = after
	}
	r.skip(8) // counts, which need not be true
	for len(b.strings) < mostStrings {
		s, ok := r.string()
		if !ok {
			break
		}
		b.strings = append(b.strings, s)
	}
	return next
}

// front drops segments that are used up; it reports whether one is left.
func (r *sstReader) front() bool {
	for len(r.segments) > 0 && len(r.segments[0]) == 0 {
		r.segments = r.segments[1:]
	}
	return len(r.segments) > 0
}

func (r *sstReader) byte() (int, bool) {
	if !r.front() {
		return 0, false
	}
	b := r.segments[0][0]
	r.segments[0] = r.segments[0][1:]
	return int(b), true
}

// number reads n bytes, the lowest first.
func (r *sstReader) number(n int) (v int, ok bool) {
	for i := range n {
		b, ok := r.byte()
		if !ok {
			return 0, false
		}
		v |= b << (8 * i)
	}
	return v, true
}

func (r *sstReader) skip(n int) {
	for n > 0 && r.front() {
		part := min(n, len(r.segments[0]))
		r.segments[0] = r.segments[0][part:]
		n -= part
	}
}

// string reads one string:
//
//	length:2 flags:1 [runs:2 if flags&8] [extra:4 if flags&4] characters runs×4 extra
func (r *sstReader) string() (string, bool) {
	length, ok := r.number(2)
	if !ok {
		return "", false
	}
	flags, ok := r.byte()
	if !ok {
		return "", false
	}
	runs, extra := 0, 0
	if flags&8 != 0 {
		runs, _ = r.number(2) // what is cut off shows at the next string
	}
	if flags&4 != 0 {
		extra, _ = r.number(4)
	}
	text := r.characters(length, flags)
	r.skip(4*runs + extra)
	return text, true
}

func (r *sstReader) characters(length, flags int) string {
	var wide []byte
	for length > 0 && len(r.segments) > 0 {
		segment := r.segments[0]
		if len(segment) == 0 {
			r.segments = r.segments[1:]
			if flags, _ = r.byte(); !r.front() {
				break
			}
			continue
		}
		if flags&biffFullWidth != 0 {
			n := min(length, len(segment)/2)
			if n == 0 {
				r.segments[0] = nil // half a character at the end
				continue
			}
			wide = append(wide, segment[:2*n]...)
			r.segments[0], length = segment[2*n:], length-n
			continue
		}
		n := min(length, len(segment))
		for _, b := range segment[:n] {
			wide = append(wide, b, 0)
		}
		r.segments[0], length = segment[n:], length-n
	}
	return decodeUTF16(wide, binary.LittleEndian)
}
