package demo

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/tiff"

	"deedkeep/app/document/pdfwriter"
	"deedkeep/app/ocr"
)

// Pages are letter size. 200 dots per inch are what county scanners use, and enough for OCR.
const (
	dpi        = 200
	pageWidth  = 17 * dpi / 2
	pageHeight = 11 * dpi
	margin     = dpi
	lineHeight = 11 * dpi / 60
)

// textLayer stands for a PDF file with the text of its pages, as a scanner with OCR makes it.
const textLayer = ".text.pdf"

// faces are the fonts of one page. They aren't safe for concurrent use.
type faces struct{ text, stamp, title font.Face }

func newFaces() (f faces, err error) {
	for _, row := range []struct {
		face *font.Face
		ttf  []byte
		size float64
	}{{&f.text, goregular.TTF, 11}, {&f.stamp, gomono.TTF, 10}, {&f.title, gobold.TTF, 15}} {
		parsed, err := opentype.Parse(row.ttf)
		if err != nil {
			return f, fmt.Errorf("parse font: %w", err)
		}
		if *row.face, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: row.size, DPI: dpi}); err != nil {
			return f, fmt.Errorf("create font face: %w", err)
		}
	}
	return f, nil
}

// sheet is a page that is written from the top.
type sheet struct {
	faces
	*image.Gray
	y     int
	rand  *rand.Rand
	words ocr.Page
	lines int
}

// drawPages returns the pages with a text in the form of papers.txt, as a scanner sees them.
func drawPages(f faces, text string, seed uint64) (pages []sheet) {
	rnd := rand.New(rand.NewPCG(seed, 30)) // #nosec G404 -- the noise of a scanner, the same in each example firm
	for page := range strings.SplitSeq(text, "\n---\n") {
		s := sheet{faces: f, Gray: image.NewGray(image.Rect(0, 0, pageWidth, pageHeight)), y: margin * 4 / 5, rand: rnd}
		draw.Draw(s, s.Rect, image.White, image.Point{}, draw.Src)
		for line := range strings.Lines(page) {
			s.write(strings.TrimSpace(line))
		}
		s.Gray = skewed(s.Gray, rnd)
		pages = append(pages, s)
	}
	return pages
}

// write writes a line; see papers.txt.
func (s *sheet) write(line string) {
	switch {
	case line == "":
		s.y += lineHeight / 2
	case line == "!lots":
		s.drawLots()
	case line[0] == '@':
		s.drawText(s.stamp, pageWidth-margin*37/10, line[1:])
	case line[0] == '#':
		s.y += lineHeight / 2
		s.drawText(s.title, (pageWidth-font.MeasureString(s.title, line[1:]).Round())/2, line[1:])
		s.y += lineHeight / 2
	case line[0] == '~':
		s.drawSignature()
		s.drawText(s.text, pageWidth/2, line[1:])
	default:
		s.drawParagraph(line)
	}
}

func (s *sheet) drawText(face font.Face, x int, text string) {
	s.y += lineHeight
	s.lines++
	d := &font.Drawer{Dst: s, Src: image.Black, Face: face, Dot: fixed.P(x, s.y)}
	for word := range strings.FieldsSeq(text) {
		left := d.Dot.X.Round()
		d.DrawString(word)
		s.words.Words = append(s.words.Words, ocr.Word{Text: word, Confidence: 96, Line: s.lines, Paragraph: 1, Box: ocr.Box{
			Left: left * ocr.Scale / pageWidth, Right: d.Dot.X.Round() * ocr.Scale / pageWidth,
			Top: (s.y - lineHeight*3/4) * ocr.Scale / pageHeight, Bottom: (s.y + lineHeight/4) * ocr.Scale / pageHeight}})
		d.DrawString(" ")
	}
}

func (s *sheet) drawParagraph(text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if longer := line + " " + word; line == "" {
			line = word
		} else if font.MeasureString(s.text, longer).Round() <= pageWidth-2*margin {
			line = longer
		} else {
			s.drawText(s.text, margin, line)
			line = word
		}
	}
	s.drawText(s.text, margin, line)
}

// drawSignature draws a scribble on a line.
func (s *sheet) drawSignature() {
	s.y += 2 * lineHeight
	width, waves := 300+s.rand.Float64()*200, 5+s.rand.Float64()*4
	for x := 0.0; x < width; x += 0.25 {
		height := 30 * (1.2 - x/width) * math.Sin(waves*2*math.Pi*x/width) * (0.6 + 0.4*math.Sin(x/17))
		s.dot(pageWidth/2+20+int(x+12*math.Sin(x/11)), s.y-25-int(height), 2)
	}
	for x := pageWidth / 2; x < pageWidth-margin; x++ {
		s.dot(x, s.y+6, 1)
	}
}

// drawLots draws a street with numbered lots on both sides.
func (s *sheet) drawLots() {
	const across, down = 6, 2
	left, top, right, bottom := margin, s.y+lineHeight, pageWidth-margin, s.y+5*dpi
	for n := range across * down {
		x, y := left+n%across*(right-left)/across, top+n/across*(bottom-top+150)/down
		w, h := (right-left)/across, (bottom-top-150)/down
		for i := range max(w, h) {
			for _, p := range [][2]int{{min(i, w), 0}, {min(i, w), h}, {0, min(i, h)}, {w, min(i, h)}} {
				s.dot(x+p[0], y+p[1], 2)
			}
		}
		label := &font.Drawer{Dst: s, Src: image.Black, Face: s.title, Dot: fixed.P(x+w/2-20, y+h/2)}
		label.DrawString(fmt.Sprint(n + 1))
		label.Face, label.Dot = s.stamp, fixed.P(x+w/4, y+h-20)
		label.DrawString(fmt.Sprintf("%d.00'", 80+n*7%25))
	}
	s.y = bottom + lineHeight
}

// dot draws a square.
func (s *sheet) dot(x, y, size int) {
	draw.Draw(s, image.Rect(x, y, x+size, y+size), image.Black, image.Point{}, draw.Src)
}

// skewed returns the page as a scanner sees it: a little rotated, in black and white, with specks.
func skewed(page *image.Gray, rnd *rand.Rand) *image.Gray {
	slope := (rnd.Float64() - 0.5) * 0.012
	out := image.NewGray(page.Rect)
	for y := range pageHeight {
		row := out.Pix[y*out.Stride : (y+1)*out.Stride]
		for x := range row {
			row[x] = 255
			if from := image.Pt(x+int(slope*float64(y-pageHeight/2)), y-int(slope*float64(x-pageWidth/2))); from.In(page.Rect) &&
				page.Pix[from.Y*page.Stride+from.X] < 140 {
				row[x] = 0
			}
		}
	}
	for range 60 {
		out.Pix[rnd.IntN(len(out.Pix))] = 0
	}
	return out
}

// bilevel returns the page with one bit per pixel.
func bilevel(page *image.Gray) *image.Paletted {
	out := image.NewPaletted(page.Rect, color.Palette{color.White, color.Black})
	for i, v := range page.Pix {
		out.Pix[i] = 1 - v/255
	}
	return out
}

// encode returns a document with the pages. Its type follows from the extension; only PDF files have several pages, and
// with the extension textLayer the words.
func encode(extension string, pages []sheet) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch extension {
	case ".png":
		err = png.Encode(&b, bilevel(pages[0].Gray))
	case ".tif":
		err = tiff.Encode(&b, bilevel(pages[0].Gray), &tiff.Options{Compression: tiff.Deflate})
	case ".jpg":
		err = jpeg.Encode(&b, pages[0].Gray, &jpeg.Options{Quality: 40})
	default:
		w := pdfwriter.New(&b)
		for _, page := range pages {
			scan := &pdfwriter.Image{Width: pageWidth, Height: pageHeight, Orientation: 1, Bits: 1, ColorSpace: "/DeviceGray",
				Filter: "FlateDecode", Write: func(w io.Writer) error { return deflateBits(w, page.Gray) }}
			if extension != textLayer {
				page.words = ocr.Page{}
			}
			err = errors.Join(err, w.Page(612, 792, scan, page.words))
		}
		err = errors.Join(err, w.Close())
	}
	return b.Bytes(), err
}

// deflateBits writes the pixels of a page, eight in a byte.
func deflateBits(w io.Writer, page *image.Gray) error {
	stride := (pageWidth + 7) / 8
	bits := make([]byte, stride*pageHeight)
	for i, v := range page.Pix {
		if x, y := i%pageWidth, i/pageWidth; v > 0 {
			bits[y*stride+x/8] |= 0x80 >> (x % 8)
		}
	}
	z := zlib.NewWriter(w)
	if _, err := z.Write(bits); err != nil {
		return err
	}
	return z.Close()
}
