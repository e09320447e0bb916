package document

import (
	"encoding/binary"
	"fmt"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/ole"
)

// Offsets in the header of a WordDocument stream ([MS-DOC] 2.5), and its flags.
const (
	fibFlags     = 0x0A
	fibTextStart = 0x18 // of Word 6 and 95
	fibOldLength = 0x34 // of Word 6 and 95: characters of the body
	fibLengths   = 0x4C // characters of the body and of seven more texts
	fibPieces    = 0x1A2

	fibEncrypted = 0x0100
	fibTable1    = 0x0200
	fibWord97    = 0x00C1 // the first version with Unicode and table streams
)

// The eight texts of a document follow one another in one sequence of characters. Macros and
// comments are left out ([MS-DOC] 2.4.1).
const (
	wordTexts    = 8
	wordMacros   = 3
	wordComments = 4
)

// piece is a run of characters that are contiguous in the stream ([MS-DOC] 2.9.177).
type piece struct {
	first, end int  // positions of characters
	at         int  // offset in the stream
	utf16      bool // else Windows-1252
}

// docText reads the body, notes, headers, and text boxes of a document of Word 97 or later,
// and the body of one of Word 6 or 95.
func docText(doc *source, out *writer) error {
	file, err := ole.Open(doc.Reader, ole.StreamBytes(doc.Size()))
	if err != nil {
		return err
	}
	content, err := file.Read(out.lim.MaxUnpackedBytes, "worddocument")
	if err != nil {
		return err
	}
	return readWord(content, out, func(name string) ([]byte, error) { return file.Read(out.lim.MaxUnpackedBytes, name) })
}

// readWord reads the text of a WordDocument stream. table returns the table stream of that
// name.
func readWord(stream records, out *writer, table func(name string) ([]byte, error)) error {
	if stream.u16(fibFlags)&fibEncrypted != 0 {
		return fmt.Errorf("%w: Word document with a password", ErrUnsupported)
	}
	if stream.u16(2) < fibWord97 {
		w := wordText{out: out, budget: len(stream)}
		w.piece(stream, piece{0, stream.u32(fibOldLength), stream.u32(fibTextStart), false}, 0, stream.u32(fibOldLength))
		return nil
	}
	name := "0table"
	if stream.u16(fibFlags)&fibTable1 != 0 {
		name = "1table"
	}
	content, err := table(name)
	if err != nil {
		return err
	}
	pieces := readPieces(records(content).span(stream.u32(fibPieces), stream.u32(fibPieces+4)))
	if len(pieces) == 0 {
		return docio.Damaged("no pieces of text")
	}
	readTexts(stream, pieces, out)
	return nil
}

// readPieces reads the piece table ([MS-DOC] 2.9.38). After entries of type 1 with a 16-bit
// length comes one of type 2:
//
//	2  length:4  n+1 × first:4  n × (flags:2 fc:4 prm:2)
//
// If bit 30 of fc is set, the characters are bytes at half of fc.
func readPieces(clx records) []piece {
	at := 0
	for at < len(clx) && clx[at] == 1 {
		at += 3 + clx.u16(at+1)
	}
	if at >= len(clx) || clx[at] != 2 {
		return nil
	}
	list := clx.span(at+5, min(clx.u32(at+1), len(clx)-at-5))
	n := (len(list) - 4) / 12
	var pieces []piece
	for i := range max(n, 0) {
		p := piece{first: list.u32(4 * i), end: list.u32(4*i + 4), utf16: true}
		fc := list.u32(4*(n+1) + 8*i + 2)
		p.at = fc & 0x3FFFFFFF
		if fc&0x40000000 != 0 {
			p.at, p.utf16 = p.at/2, false
		}
		if p.end > p.first {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// readTexts writes the texts of the document in order.
func readTexts(stream records, pieces []piece, out *writer) {
	// Pieces of a valid document don't overlap, so the size of the stream bounds the work.
	w := wordText{out: out, budget: 2 * len(stream)}
	from := 0
	for i := range wordTexts {
		to := from + stream.u32(fibLengths+4*i)
		if i != wordMacros && i != wordComments {
			for _, p := range pieces {
				w.piece(stream, p, from, to)
			}
			w.fields = nil
			out.line()
		}
		from = to
	}
}

// wordText writes the characters of a Word document.
type wordText struct {
	out     *writer
	budget  int    // bytes that may still be read
	fields  []bool // for each open field: whether its code is being read
	cellEnd bool   // the previous character ended a cell
}

// piece writes the part of p between two character positions.
func (w *wordText) piece(stream records, p piece, from, to int) {
	first, end := max(p.first, from), min(p.end, to)
	size := 1
	if p.utf16 {
		size = 2
	}
	if first >= end || p.at > len(stream) {
		return
	}
	n := min(size*(end-first), w.budget)
	at := p.at + size*(first-p.first)
	if at < 0 || at >= len(stream) {
		return
	}
	text := stream[at:min(at+n, len(stream))]
	w.budget -= len(text)
	if w.out.full() || w.out.pageFull() {
		w.out.truncated = true
		return
	}
	if !p.utf16 {
		for _, b := range text {
			w.character(windows1252Rune(b))
		}
		return
	}
	for _, r := range docio.DecodeUTF16(text, binary.LittleEndian) {
		w.character(r)
	}
}

// maxFields is how deep fields may be nested.
const maxFields = 64

// character writes r, or applies it if it is a mark of [MS-DOC] 2.4.1 or 2.8.25.
func (w *wordText) character(r rune) {
	switch r {
	case 0x13: // code of a field begins
		if len(w.fields) < maxFields {
			w.fields = append(w.fields, true)
		}
		return
	case 0x14: // result of the field begins
		if n := len(w.fields); n > 0 {
			w.fields[n-1] = false
		}
		return
	case 0x15: // field ends
		if n := len(w.fields); n > 0 {
			w.fields = w.fields[:n-1]
		}
		return
	}
	for _, code := range w.fields {
		if code {
			return
		}
	}
	afterCell := w.cellEnd
	w.cellEnd = r == 0x07
	switch r {
	case 0x0B, 0x0C, '\r': // line, page, paragraph
		w.out.rune('\n')
	case 0x07: // end of a cell; two in a row end the table row
		if afterCell {
			w.out.rune('\n')
		} else {
			w.out.rune('\t')
		}
	case 0x1E: // non-breaking hyphen
		w.out.rune('-')
	default:
		w.out.character(r)
	}
}
