package office

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"deedkeep/app/document/docio"
)

// wordStreams returns a WordDocument stream and its table stream. The body has two pieces, one in
// bytes and one in UTF-16. There is one text of each other type.
func wordStreams() (stream, table []byte) {
	stream = make([]byte, 0x800)
	copy(stream, le(uint16(0xA5EC), uint16(0xC1)))
	binary.LittleEndian.PutUint16(stream[fibFlags:], fibTable1)
	first := "GRANT \x13 HYPERLINK \"x\" \x14DEED\x15\rparcel\x07119.04\x07\x07\x93quoted\x94\x0b"
	second := "Ibáñez\r"
	rest := []string{"note\r", "head\r", "macro\r", "comment\r", "end\r", "box\r", "headbox\r"}
	lengths := []uint32{uint32(len(first) + len([]rune(second)))}
	for _, r := range rest {
		lengths = append(lengths, uint32(len(r)))
	}
	copy(stream[fibLengths:], le(lengths))
	tail := first + strings.Join(rest, "")
	copy(stream[0x400:], tail)
	copy(stream[0x600:], wide(second))
	cut, end := uint32(len(first)), uint32(len(first)+len([]rune(second)))
	all := end + uint32(len(tail)-len(first))
	const compressed = 0x40000000 // one byte for each character
	pieces := le(uint32(0), cut, end, all,
		uint16(0), uint32(compressed|0x400*2), uint16(0),
		uint16(0), uint32(0x600), uint16(0),
		uint16(0), compressed|(0x400+cut)*2, uint16(0))
	clx := le(byte(1), uint16(3), "abc", byte(2), uint32(len(pieces)), pieces)
	copy(stream[fibPieces:], le(uint32(8), uint32(len(clx))))
	return stream, le("somewhat", clx)
}

// biff returns a BIFF record.
func biff(kind uint16, parts ...any) []byte {
	content := le(parts...)
	return le(kind, uint16(len(content)), content)
}

func xlsStream() []byte {
	bof := biff(biffBOF, uint16(biffVersion8), make([]byte, 14))
	xf := func(format uint16) []byte { return biff(biffXF, uint16(0), format, make([]byte, 16)) }
	globals := func(at uint32) []byte {
		return le(bof,
			biff(biffFormat, uint16(164), uint16(6), byte(0), "yy-m-d"),
			xf(0), xf(164), xf(2),
			biff(biffSheet, at, uint16(0), byte(5), byte(0), "Chain"),
			// The second string is split in the middle and continues in UTF-16.
			biff(biffSST, uint32(2), uint32(2), uint16(5), byte(0), "plain", uint16(6), byte(8), uint16(1), "Ib"),
			biff(biffContinue, byte(1), wide("áñez"), make([]byte, 4), uint16(4), byte(4), uint32(3), "last", "ext"),
			biff(biffEOF))
	}
	cell := func(row, column, xf int) []byte { return le(uint16(row), uint16(column), uint16(xf)) }
	sheet := le(bof,
		biff(biffLabelSST, cell(0, 0, 0), uint32(0)), biff(biffLabelSST, cell(0, 1, 0), uint32(1)), biff(biffLabelSST, cell(0, 2, 0), uint32(2)),
		biff(biffLabelSST, cell(0, 3, 0), uint32(99)),
		biff(biffBOF, uint16(biffVersion8), uint16(32)), biff(biffNumber, cell(9, 9, 0), 99.0), biff(biffEOF), // a chart
		biff(biffNumber, cell(1, 0, 1), 43572.0),
		biff(biffRK, cell(1, 1, 0), uint32(1234<<2|3)),
		biff(biffMulRK, uint16(1), uint16(2), uint16(0), uint32(7<<2|2), uint16(0), uint32(math.Float64bits(2.5)>>32), uint16(3)),
		biff(biffFormula, cell(2, 0, 0), byte(0), make([]byte, 5), uint16(0xFFFF)), biff(biffString, uint16(6), byte(0), "result"),
		biff(biffFormula, cell(2, 1, 0), byte(1), byte(0), byte(1), make([]byte, 3), uint16(0xFFFF)),
		biff(biffBool, cell(3, 0, 0), byte(0), byte(0)), biff(biffLabel, cell(3, 1, 0), uint16(3), byte(0), "old"),
		biff(biffEOF))
	return le(globals(uint32(len(globals(0)))), sheet)
}

// ppt returns a PowerPoint record. Version 15 is a container.
func ppt(version, instance, kind uint16, parts ...any) []byte {
	content := le(parts...)
	return le(version|instance<<4, kind, uint32(len(content)), content)
}

// pptStreams returns a presentation with two slides, stored in reverse order. An edit replaced one
// of them.
func pptStreams() (stream, user []byte) {
	slide := func(text string) []byte {
		return ppt(15, 0, pptSlide, ppt(15, 0, 0x40C, ppt(15, 0, 0xF00D, ppt(0, 0, pptBytes, text))))
	}
	ref := func(ref, id uint32) []byte { return ppt(0, 0, pptSlideRef, ref, make([]byte, 8), id, uint32(0)) }
	var at []uint32
	put := func(record []byte) {
		at = append(at, uint32(len(stream)))
		stream = append(stream, record...)
	}
	put(slide("shape of the second"))
	put(slide("old shape"))
	put(ppt(15, 0, pptDocument,
		ppt(15, slidesInstance, pptSlideList, ref(3, 256), ppt(0, 0, pptChars, wide("First 表\vline")), ref(2, 257),
			ppt(0, 0, pptBytes, "Second")),
		ppt(15, 1, pptSlideList, ref(9, 1), ppt(0, 0, pptBytes, "master")),
		ppt(15, notesInstance, pptSlideList, ref(5, 1))))
	put(ppt(15, 0, pptNotes, ppt(1, 0, pptNotesAtom, uint32(257), uint32(0)), ppt(15, 0, 0xF00D, ppt(0, 0, pptBytes, "noted"))))
	put(ppt(0, 0, pptDirectory, uint32(4<<20|2), at[0], at[1], at[2], at[3]))
	put(ppt(0, 0, pptUserEdit, uint32(0), uint32(0), uint32(0), at[4], uint32(4)))
	put(slide("new shape"))
	put(ppt(0, 0, pptDirectory, uint32(1<<20|3), at[6]))
	put(ppt(0, 0, pptUserEdit, uint32(0), uint32(0), at[5], at[7], uint32(4)))
	return stream, le(uint64(0), uint64(0), at[8])
}

func TestExtractOLE(t *testing.T) {
	word, table := wordStreams()
	show, user := pptStreams()
	old := make([]byte, 100)
	copy(old, le(uint16(0xA5DC), uint16(0x68)))
	copy(old[fibTextStart:], le(uint32(90)))
	copy(old[fibOldLength:], le(uint32(10)))
	copy(old[90:], "Word 6 \x85\r.")
	for _, c := range []struct {
		name, mime string
		streams    map[string][]byte
		want       string
	}{
		{"doc", MIMEDOC, map[string][]byte{"WORDDOCUMENT": word, "1Table": table},
			"1: GRANT DEED\nparcel\t119.04\t\n“quoted”\nIbáñez\n\nnote\n\nhead\n\nend\n\nbox\n\nheadbox\n"},
		{"doc by Word 6", MIMEDOC, map[string][]byte{"WordDocument": old}, "1: Word 6 …\n.\n"},
		{"xls", MIMEXLS, map[string][]byte{"Workbook": xlsStream()},
			"1: Chain\nplain\tIbáñez\tlast\n2019-04-17\t12.34\t7\t2.5\nresult\tTRUE\nFALSE\told\n"},
		{"ppt", MIMEPPT, map[string][]byte{"PowerPoint Document": show, "Current User": user},
			"1: First 表\nline\nnew shape\n2: Second\nshape of the second\nnoted\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var names []string
			for name := range c.streams {
				names = append(names, name)
			}
			got, err := collect(t, buildOLE(c.streams, names...), c.mime, docio.ExtractLimits{})
			if err != nil || got != c.want {
				t.Errorf("Text = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestOLEErrors(t *testing.T) {
	word, _ := wordStreams()
	locked := append([]byte(nil), word...)
	locked[fibFlags+1] |= fibEncrypted >> 8
	for _, c := range []struct {
		name, mime string
		src        []byte
		want       error
	}{
		{"nothing", MIMEDOC, nil, docio.ErrDamaged},
		{"only a header", MIMEDOC, buildOLE(nil)[:512], docio.ErrDamaged},
		{"no such stream", MIMEPPT, buildOLE(map[string][]byte{"WordDocument": word}, "WordDocument"), docio.ErrDamaged},
		{"no table", MIMEDOC, buildOLE(map[string][]byte{"WordDocument": word}, "WordDocument"), docio.ErrDamaged},
		{"Word password", MIMEDOC, buildOLE(map[string][]byte{"WordDocument": locked}, "WordDocument"), docio.ErrUnsupported},
		{"Excel password", MIMEXLS, buildOLE(map[string][]byte{"Book": le(biff(biffBOF, uint16(biffVersion8)),
			biff(biffFilePass, uint16(0)))}, "Book"), docio.ErrUnsupported},
		{"Excel 4", MIMEXLS, buildOLE(map[string][]byte{"Book": biff(0x409, uint16(0))}, "Book"), docio.ErrUnsupported},
	} {
		if _, err := collect(t, c.src, c.mime, docio.ExtractLimits{}); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// TestCycles checks that reading a document ends even if the document refers to itself.
func TestCycles(t *testing.T) {
	edit := ppt(0, 0, pptUserEdit, uint32(0), uint32(0), uint32(0), uint32(0), uint32(1))
	binary.LittleEndian.PutUint32(edit[16:], 0)
	show := readShow(edit, le(uint64(0), uint64(0), uint32(0)), docio.ExtractLimits{}.WithDefaults())
	if len(show.slides) != 0 {
		t.Errorf("%d slides, want 0", len(show.slides))
	}
	// All of a thousand slides refer to the same container, which has a megabyte of text.
	big := ppt(15, 0, pptSlide, ppt(0, 0, pptBytes, strings.Repeat("x", 1<<20)))
	var list []byte
	for range 1000 {
		list = append(list, ppt(0, 0, pptSlideRef, uint32(1), make([]byte, 16))...)
	}
	s := &pptShow{stream: le(big), at: map[int]int{1: 0}, notes: map[int]string{}, budget: 4 * len(big), textLeft: 32 << 20}
	s.outline(list)
	doc := docio.NewReader(t.Context(), nil, 0)
	err := doc.ReadText(docio.ExtractLimits{}, func(int, string) error { return nil }, s.text)
	if !errors.Is(err, docio.ErrTooLarge) || s.budget < -2*len(big) {
		t.Errorf("got budget %d, %v, want %v", s.budget, err, docio.ErrTooLarge)
	}
}

// failingReader fails to read bytes at or after a given offset.
type failingReader struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("disk on fire")

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestFaults checks that failed reads are not reported as damage, even if a library would do so.
func TestFaults(t *testing.T) {
	word, table := wordStreams()
	for mime, content := range map[string][]byte{
		MIMEDOCX: buildZip(t, docxParts("<w:p><w:t>a</w:t></w:p>")),
		MIMEDOC:  buildOLE(map[string][]byte{"WordDocument": word, "1Table": table}, "WordDocument", "1Table"),
	} {
		for _, from := range []int64{0, 5, 20, int64(len(content)) / 2} {
			r := failingReader{bytes.NewReader(content), from}
			err := docio.Read(t.Context(), r, int64(len(content)), func(doc *docio.Reader) error {
				return doc.ReadText(docio.ExtractLimits{}, func(int, string) error { return nil }, func(out *docio.TextWriter) error {
					return texts[mime](doc, out)
				})
			})
			if !errors.Is(err, errDisk) || errors.Is(err, docio.ErrDamaged) {
				t.Errorf("%s, reads fail from %d: error %v, want %v", mime, from, err, errDisk)
			}
		}
	}
}
