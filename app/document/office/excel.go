package office

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"golang.org/x/text/encoding/charmap"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ole"
)

// Types of records in a Workbook stream ([MS-XLS] 2.3). A record consists of type:2, length:2,
// content.
const (
	biffFormula   = 0x0006
	biffEOF       = 0x000A
	biffDateMode  = 0x0022
	biffFilePass  = 0x002F
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
	biffFullWidth = 1 // string flag: two bytes per character
)

// xlsBook holds the data that all sheets of a .xls file share.
type xlsBook struct {
	stream   records
	biff8    bool // written by Excel 97 or later; earlier versions use 8-bit characters
	sheets   []xlsSheet
	strings  []string
	formats  map[int]bool // whether a custom format, by ID, displays dates
	dates    []bool       // whether an XF, by index, displays dates
	date1904 bool
	budget   int // number of bytes of sheets that may still be read
}

type xlsSheet struct {
	name string
	at   int
}

// XLS writes a page for each sheet. It starts with the sheet's name. Each row follows as a line
// with tabs between its cells.
func XLS(doc *docio.Reader, out *docio.TextWriter) error {
	file, err := ole.Open(doc, ole.StreamBytes(doc.Size()))
	if err != nil {
		return err
	}
	stream, err := file.Read(out.Limits.MaxUnpackedBytes, streamWorkbook, streamBook)
	if err != nil {
		return err
	}
	return readBook(stream, out)
}

// readBook writes the text of a Workbook stream.
func readBook(stream records, out *docio.TextWriter) error {
	b := &xlsBook{stream: stream, formats: make(map[int]bool), budget: 2 * len(stream)}
	if err := b.globals(); err != nil {
		return err
	}
	return out.Pages(len(b.sheets), func(i int) error {
		if b.budget > 0 {
			out.WriteText(b.sheets[i].name + "\n")
		}
		b.cells(b.sheets[i].at, out)
		return nil
	})
}

// record returns the record at the offset at, and the offset of the next one. ok is false after the
// last record.
func (r records) record(at int) (recordType int, content records, next int, ok bool) {
	if r.span(at, 4) == nil {
		return 0, nil, 0, false
	}
	recordType, length := r.u16(at), r.u16(at+2)
	content = r.span(at+4, min(length, len(r)-at-4))
	return recordType, content, at + 4 + length, true
}

// globals reads the first substream, which precedes the sheets.
func (b *xlsBook) globals() error {
	for at := 0; ; {
		recordType, c, next, ok := b.stream.record(at)
		if !ok || recordType == biffEOF {
			return nil
		}
		if at == 0 && recordType != biffBOF {
			return fmt.Errorf("%w: Excel 4 or older", docio.ErrUnsupported)
		}
		switch recordType {
		case biffBOF:
			b.biff8 = c.u16(0) == biffVersion8
		case biffFilePass:
			return fmt.Errorf("%w: password-protected workbook", docio.ErrUnsupported)
		case biffDateMode:
			b.date1904 = c.u16(0) == 1
		case biffSheet:
			if len(c) > 6 && len(b.sheets) < maxParts {
				b.sheets = append(b.sheets, xlsSheet{b.short(c[6:]), c.u32(0)})
			}
		case biffFormat:
			if len(c) > 2 && len(b.formats) < maxParts {
				b.formats[c.u16(0)] = isDateFormat(b.string(c[2:]))
			}
		case biffXF:
			date, custom := b.formats[c.u16(2)]
			if !custom {
				date = isBuiltinDateFormat(c.u16(2))
			}
			b.dates = append(b.dates, date)
		case biffSST:
			next = b.shared(c, next)
		}
		at = next
	}
}

// short reads a string with a one-byte length ([MS-XLS] 2.5.240).
func (b *xlsBook) short(c records) string {
	if len(c) == 0 {
		return ""
	}
	return b.characters(c[1:], int(c[0]))
}

// string reads a string with a two-byte length ([MS-XLS] 2.5.294).
func (b *xlsBook) string(c records) string {
	if len(c) < 2 {
		return ""
	}
	return b.characters(c[2:], c.u16(0))
}

// characters decodes n characters. In BIFF8, their flags come first.
func (b *xlsBook) characters(c records, n int) string {
	if !b.biff8 {
		return docio.DecodeCharmap(c[:min(n, len(c))], charmap.Windows1252)
	}
	if len(c) == 0 {
		return ""
	}
	flags, c := c[0], c[1:]
	if flags&biffFullWidth != 0 {
		return docio.DecodeUTF16(c[:min(2*n, len(c))], binary.LittleEndian)
	}
	return docio.DecodeCharmap(c[:min(n, len(c))], charmap.ISO8859_1) // UTF-16 without the upper bytes, which are zero
}

// cells writes the cells of the sheet at the offset at. It skips charts, which are nested
// substreams.
func (b *xlsBook) cells(at int, out *docio.TextWriter) {
	s := xlsRow{book: b, out: out, row: -1}
	depth := 0
	for b.budget > 0 && !out.PageFull() {
		recordType, c, next, ok := b.stream.record(at)
		if !ok {
			return
		}
		b.budget -= next - at
		at = next
		switch recordType {
		case biffBOF:
			depth++
		case biffEOF:
			if depth--; depth <= 0 {
				return
			}
		default:
			if depth == 1 {
				s.record(recordType, c)
			}
		}
	}
	out.Truncated = true
}

// xlsRow writes the cells of a sheet, with tabs between cells and line breaks between rows.
type xlsRow struct {
	book    *xlsBook
	out     *docio.TextWriter
	row     int
	formula records // the last formula whose result isn't a number
}

// put writes a cell. c starts with the cell's position and style: row:2 column:2 XF:2.
func (x *xlsRow) put(c records, text string) {
	if text == "" {
		return
	}
	if row := c.u16(0); row != x.row {
		if x.row >= 0 {
			x.out.WriteText("\n")
		}
		x.row = row
	} else {
		x.out.WriteText("\t")
	}
	x.out.WriteText(text)
}

func (x *xlsRow) record(recordType int, c records) {
	b := x.book
	switch recordType {
	case biffLabelSST:
		if i := c.u32(6); len(c) >= 10 && i < len(b.strings) {
			x.put(c, b.strings[i])
		}
	case biffLabel, biffRString:
		if len(c) > 6 {
			x.put(c, b.string(c[6:]))
		}
	case biffNumber, biffFormula:
		if len(c) >= 14 {
			x.put(c, x.result(recordType, c))
		}
	case biffString: // the result of the preceding formula
		x.put(x.formula, b.string(c))
	case biffRK:
		if len(c) >= 10 {
			x.put(c, b.number(rk(c.u32(6)), c.u16(4)))
		}
	case biffMulRK:
		for at := 4; at+8 <= len(c); at += 6 {
			x.put(c, b.number(rk(c.u32(at+2)), c.u16(at)))
		}
	case biffBool:
		if len(c) >= 8 && c[7] == 0 {
			x.put(c, formatBool(c[6] != 0))
		}
	}
}

// result returns the value of a NUMBER or FORMULA record. The result of a formula may be a number,
// a Boolean, an error, or a string. A string is stored in the next record ([MS-XLS] 2.5.133).
func (x *xlsRow) result(recordType int, c records) string {
	if recordType == biffFormula && c.u16(12) == 0xFFFF {
		x.formula = c
		if c[6] == 1 {
			return formatBool(c[8] != 0)
		}
		return ""
	}
	return x.book.number(math.Float64frombits(binary.LittleEndian.Uint64(c[6:])), c.u16(4))
}

func (b *xlsBook) number(v float64, xf int) string {
	return formatNumber(v, xf < len(b.dates) && b.dates[xf], b.date1904)
}

// rk decodes a 30-bit number: an integer if bit 1 is set, else the upper bits of a float. If bit 0
// is set, the number is divided by 100 ([MS-XLS] 2.5.217).
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

// shared reads the SST record. content is its first part, and its continuations start at next.
// shared returns the offset of the record after them.
func (b *xlsBook) shared(content records, next int) int {
	parts := [][]byte{content}
	ends := []int{len(content)}
	for {
		recordType, more, after, ok := b.stream.record(next)
		if !ok || recordType != biffContinue {
			break
		}
		parts, ends = append(parts, more), append(ends, ends[len(ends)-1]+len(more))
		next = after
	}
	r := &sstReader{content: slices.Concat(parts...), ends: ends, at: 8} // the counts at the start may be wrong
	for len(b.strings) < maxStrings {
		s, ok := r.string()
		if !ok {
			break
		}
		b.strings = append(b.strings, s)
	}
	return next
}

// sstReader reads the shared strings of a .xls file ([MS-XLS] 2.4.265) from a record and its
// continuations. If a continuation starts in the middle of a string, it repeats the flags of the
// string. It may then switch from one byte per character to two.
type sstReader struct {
	content records // of the record and its continuations
	ends    []int   // offsets in content at which the remaining ones end
	at      int
}

// string reads a string in this format:
//
//	length:2 flags:1 [runs:2 if flags&8] [extra:4 if flags&4] characters runs×4 extra
func (r *sstReader) string() (string, bool) {
	head := r.content.span(r.at, 3)
	if head == nil {
		return "", false
	}
	flags, after := head[2], 0
	r.at += 3
	if flags&8 != 0 {
		after = 4 * r.content.u16(r.at)
		r.at += 2
	}
	if flags&4 != 0 {
		after += r.content.u32(r.at)
		r.at += 4
	}
	text := r.characters(head.u16(0), flags)
	r.at += after
	return text, true
}

// characters decodes length characters.
func (r *sstReader) characters(length int, flags byte) string {
	var wide []byte
	for length > 0 && r.at < len(r.content) {
		for r.ends[0] < r.at {
			r.ends = r.ends[1:]
		}
		if r.ends[0] == r.at {
			flags = r.content[r.at]
			r.at++
			continue
		}
		size := 1 + int(flags&biffFullWidth)
		n := min(length, (r.ends[0]-r.at)/size)
		if n == 0 {
			r.at = r.ends[0] // the record ends in the middle of a character
			continue
		}
		part := r.content[r.at : r.at+n*size]
		r.at, length = r.at+len(part), length-n
		if size == 2 {
			wide = append(wide, part...)
			continue
		}
		for _, b := range part {
			wide = append(wide, b, 0)
		}
	}
	return docio.DecodeUTF16(wide, binary.LittleEndian)
}
