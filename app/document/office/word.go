package office

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/text/encoding/charmap"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ole"
)

// Offsets in the header of a WordDocument stream ([MS-DOC] 2.5), and flags of the header.
const (
	fibFlags     = 0x0A
	fibTextStart = 0x18 // only in Word 6 and 95
	fibOldLength = 0x34 // only in Word 6 and 95: number of characters in the body
	fibLengths   = 0x4C // number of characters in the body and in each of seven other texts
	fibPieces    = 0x1A2

	fibEncrypted = 0x0100
	fibTable1    = 0x0200
	fibWord97    = 0x00C1 // first version with Unicode and table streams
)

// The eight texts of a document are stored one after another in a single sequence of characters
// ([MS-DOC] 2.4.1). Macros and comments are skipped.
const (
	wordTexts    = 8
	wordMacros   = 3
	wordComments = 4
)

// piece is a run of characters that is contiguous in the stream ([MS-DOC] 2.9.177).
type piece struct {
	first, end int  // positions in the sequence of characters
	at         int  // offset in the stream
	utf16      bool // the encoding is UTF-16, else Windows-1252
}

// DOC writes the text of a .doc file. In Word 97 or later, that is the body, notes, headers,
// and text boxes. In Word 6 or 95, it is only the body.
func DOC(doc *docio.Reader, out *docio.TextWriter) error {
	file, err := ole.Open(doc, ole.StreamBytes(doc.Size()))
	if err != nil {
		return err
	}
	content, err := file.Read(out.Limits.MaxUnpackedBytes, streamWord)
	if err != nil {
		return err
	}
	return readWord(content, out, func(name string) ([]byte, error) { return file.Read(out.Limits.MaxUnpackedBytes, name) })
}

// readWord writes the text of a WordDocument stream. table returns the table stream with the given
// name.
func readWord(stream records, out *docio.TextWriter, table func(name string) ([]byte, error)) error {
	if stream.u16(fibFlags)&fibEncrypted != 0 {
		return fmt.Errorf("%w: password-protected Word document", docio.ErrUnsupported)
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
		return docio.Damaged("no text pieces")
	}
	readTexts(stream, pieces, out)
	return nil
}

// readPieces reads the piece table ([MS-DOC] 2.9.38). It is an entry of type 2 after any number of
// entries of type 1. An entry of type 1 has a 16-bit length. An entry of type 2 has this format:
//
//	2  length:4  n+1 × first:4  n × (flags:2 fc:4 prm:2)
//
// If bit 30 of fc is set, each character is one byte, and the offset is half of fc.
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
func readTexts(stream records, pieces []piece, out *docio.TextWriter) {
	// In a valid document, pieces don't overlap. The size of the stream therefore limits the work.
	w := wordText{out: out, budget: 2 * len(stream)}
	from := 0
	for i := range wordTexts {
		to := from + stream.u32(fibLengths+4*i)
		if i != wordMacros && i != wordComments {
			for _, p := range pieces {
				w.piece(stream, p, from, to)
			}
			w.fields = nil
			out.EndLine()
		}
		from = to
	}
}

// wordText writes the characters of a Word document.
type wordText struct {
	out     *docio.TextWriter
	budget  int    // number of bytes that may still be read
	fields  []bool // for each open field, whether its code is being read
	cellEnd bool   // whether the previous character ended a cell
}

// piece writes the part of p between the character positions from and to.
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
	if w.out.Full() || w.out.PageFull() {
		w.out.Truncated = true
		return
	}
	decoded := docio.DecodeCharmap(text, charmap.Windows1252)
	if p.utf16 {
		decoded = docio.DecodeUTF16(text, binary.LittleEndian)
	}
	for _, r := range decoded {
		w.character(r)
	}
}

// maxFields is the maximum depth of nested fields.
const maxFields = 64

// character writes r. If r is a special character from [MS-DOC] 2.4.1 or 2.8.25, it applies its
// effect instead.
func (w *wordText) character(r rune) {
	switch r {
	case 0x13: // start of a field, followed by its code
		if len(w.fields) < maxFields {
			w.fields = append(w.fields, true)
		}
		return
	case 0x14: // start of the field's result
		if n := len(w.fields); n > 0 {
			w.fields[n-1] = false
		}
		return
	case 0x15: // end of the field
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
	case 0x0B, 0x0C, '\r': // end of a line, page, or paragraph
		w.out.WriteRune('\n')
	case 0x07: // end of a cell; two in a row end the table row
		if afterCell {
			w.out.WriteRune('\n')
		} else {
			w.out.WriteRune('\t')
		}
	case 0x1E: // nonbreaking hyphen
		w.out.WriteRune('-')
	default:
		w.out.WriteCharacter(r)
	}
}
