package pdfwriter

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"deedkeep/app/ocr"
)

// Invisible text uses Courier, one of the fonts that every PDF reader has. All of its characters
// have the same width, so the characters of a word are spread evenly over its box, as in the viewer.
// Sizes are fractions of the font size (Adobe Font Metrics of Courier).
const (
	fontName       = "Courier"
	fontPrefix     = "InvisibleText" // of the names of fonts on a page; no other program uses it
	characterWidth = 0.6
	ascent         = 0.629
	descent        = 0.157
)

// Codes of the characters in an additional font: those that aren't white space or control
// characters.
const (
	firstCode    = 0x21
	codesPerFont = 0x100 - firstCode
)

// fonts are the fonts of a document. Font 0 has the characters of Windows code page 1252
// (WinAnsiEncoding). The other fonts have the other characters in the order of their first use, with
// codes from firstCode.
type fonts struct {
	other []rune
	index map[rune]int // in other
}

func newFonts() fonts { return fonts{index: map[rune]int{}} }

// encode returns the font and the code of a character.
func (f *fonts) encode(r rune) (font int, code byte) {
	if b, ok := charmap.Windows1252.EncodeRune(r); ok && b >= ' ' {
		return 0, b
	}
	i, ok := f.index[r]
	if !ok {
		i = len(f.other)
		f.index[r] = i
		f.other = append(f.other, r)
	}
	return 1 + i/codesPerFont, byte(firstCode + i%codesPerFont)
}

// run returns the codes of the characters from start that have the same font, and where they end.
func (f *fonts) run(characters []rune, start int) (font int, codes []byte, end int) {
	for end = start; end < len(characters); end++ {
		in, code := f.encode(characters[end])
		if end > start && in != font {
			break
		}
		font, codes = in, append(codes, code)
	}
	return font, codes, end
}

// text writes the words as invisible text on a page of the given size.
func (f *fonts) text(b *bytes.Buffer, page ocr.Page, width, height float64) {
	if len(page.Words) == 0 {
		return
	}
	const invisible = 3
	fmt.Fprintf(b, "BT %d Tr\n", invisible)
	font, size := -1, 0.0
	for _, word := range page.Words {
		characters := []rune(word.Text + " ") // readers don't always see that a gap separates words
		length := float64(len(characters) - 1)
		p := place(word.Box, page.Rotation, width, height)
		for start := 0; start < len(characters); {
			needed, codes, end := f.run(characters, start)
			if needed != font || p.size != size {
				font, size = needed, p.size
				fmt.Fprintf(b, "/%s%d %s Tf\n", fontPrefix, font, number(size))
			}
			share := float64(start) / length
			fmt.Fprintf(b, "%s Tz %s Tm <%s> Tj\n", number(100*p.length/(characterWidth*p.size*length)),
				p.matrix(share), hex.EncodeToString(codes))
			start = end
		}
	}
	b.WriteString("ET\n")
}

// placed is the place of a word on a page, in points.
type placed struct {
	x, y         float64 // where the baseline starts
	right, up    float64 // direction of the baseline: one of them is 0, the other one 1 or -1
	length, size float64 // of the baseline, and of the font
}

// place returns the place of a word. Its characters fill the box from the lowest descender to the
// highest ascender. rotation is by how many degrees the page must be turned clockwise for upright
// words.
func place(box ocr.Box, rotation int, width, height float64) placed {
	const minBox = 0.5 // of a unit, so that the font has a size
	left, right := float64(box.Left)*width/ocr.Scale, max(float64(box.Right), float64(box.Left)+minBox)*width/ocr.Scale
	top, bottom := height-float64(box.Top)*height/ocr.Scale, height-max(float64(box.Bottom), float64(box.Top)+minBox)*height/ocr.Scale
	p := placed{length: right - left, size: (top - bottom) / (ascent + descent)}
	if rotation == 90 || rotation == 270 {
		p = placed{length: top - bottom, size: (right - left) / (ascent + descent)}
	}
	below := descent * p.size
	switch rotation {
	case 90:
		p.x, p.y, p.up = right-below, bottom, 1
	case 180:
		p.x, p.y, p.right = right, top-below, -1
	case 270:
		p.x, p.y, p.up = left+below, top, -1
	default:
		p.x, p.y, p.right = left, bottom+below, 1
	}
	return p
}

// matrix returns the text matrix for the part of the word that starts after a share of its length.
func (p placed) matrix(share float64) string {
	along := share * p.length
	return numbers(p.right, p.up, -p.up, p.right, p.x+p.right*along, p.y+p.up*along)
}

// writeFonts writes the fonts and returns the entries of a dictionary with them. PDF readers know the
// widths of the first one.
func (wr *Writer) writeFonts() string {
	var list strings.Builder
	add := func(encoding string) {
		number := wr.newObject()
		wr.object(number, "<< /Type /Font /Subtype /Type1 /BaseFont /%s %s >>", fontName, encoding)
		fmt.Fprintf(&list, "/%s%d %d 0 R ", fontPrefix, strings.Count(list.String(), "/"), number)
	}
	add("/Encoding /WinAnsiEncoding")
	for characters := range slices.Chunk(wr.fonts.other, codesPerFont) {
		unicode := wr.newObject()
		wr.stream(unicode, "/Filter /FlateDecode", func(w io.Writer) error { return deflate(w, toUnicode(characters)) })
		widths := strings.Repeat(fmt.Sprintf(" %d", int(1000*characterWidth)), len(characters))
		add(fmt.Sprintf("/Encoding %s /ToUnicode %d 0 R /FirstChar %d /LastChar %d /Widths [%s]",
			differences(characters), unicode, firstCode, firstCode+len(characters)-1, widths))
	}
	return list.String()
}

// differences returns an encoding with the characters from firstCode. Their names follow the Adobe
// Glyph List Specification.
func differences(characters []rune) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<< /Type /Encoding /Differences [%d", firstCode)
	for _, r := range characters {
		if r <= 0xFFFF {
			fmt.Fprintf(&b, " /uni%04X", r)
		} else {
			fmt.Fprintf(&b, " /u%X", r)
		}
	}
	b.WriteString("] >>")
	return b.String()
}

// maxMappings is the maximum number of entries in one section of a CMap.
const maxMappings = 100

// toUnicode returns the CMap of a font with the characters from firstCode (PDF 1.7, 9.10.3).
func toUnicode(characters []rune) []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<00> <FF>\nendcodespacerange\n")
	for start := 0; start < len(characters); start += maxMappings {
		part := characters[start:min(start+maxMappings, len(characters))]
		fmt.Fprintf(&b, "%d beginbfchar\n", len(part))
		for i, r := range part {
			fmt.Fprintf(&b, "<%02X> <", firstCode+start+i)
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, "%04X", unit)
			}
			b.WriteString(">\n")
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\n" + "end\n")
	return b.Bytes()
}
