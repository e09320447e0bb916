// Package pdfwriter writes PDF documents of scanned pages: one image per page, and the words on it
// as invisible text, so that PDF readers can find, select, and copy them.
//
// It writes each page to its output before the next one, and keeps only the positions of objects in
// memory. Encoded images are copied without changing a byte.
package pdfwriter

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/ocr"
)

// Numbers of the objects that every document has.
const (
	catalogObject = iota + 1
	pagesObject
	fontsObject
	firstFreeObject
)

// Limits of a page's sides in points (PDF 1.7, annex C).
const (
	minSide = 3
	maxSide = 14400
)

// Writer writes one document. After an error, all methods return that error.
type Writer struct {
	out     *bufio.Writer
	at      int64
	err     error
	objects map[int]entry // the written ones, by number
	next    int           // number of the next new object
	pages   []int         // numbers of the page objects
	fonts   fonts
}

// entry is an entry of the cross-reference table.
type entry struct {
	offset     int64
	generation int
}

func newWriter(w io.Writer, next int) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, 64<<10), objects: map[int]entry{}, next: next, fonts: newFonts()}
}

// New returns a Writer that writes to w.
func New(w io.Writer) *Writer {
	d := newWriter(w, firstFreeObject)
	d.print("%%PDF-1.7\n%%\xE2\xE3\xCF\xD3\n")
	return d
}

// Write writes to the output and counts the bytes.
func (wr *Writer) Write(p []byte) (int, error) {
	if wr.err != nil {
		return 0, wr.err
	}
	n, err := wr.out.Write(p)
	wr.at += int64(n)
	wr.err = err
	return n, err
}

func (wr *Writer) print(format string, args ...any) {
	_, _ = fmt.Fprintf(wr, format, args...) // the error stays in wr.err
}

// newObject returns the number of an object that is written later.
func (wr *Writer) newObject() int {
	wr.next++
	return wr.next - 1
}

// object writes an object.
func (wr *Writer) object(number int, format string, args ...any) {
	wr.begin(number, 0)
	wr.print(format+"\nendobj\n", args...)
}

func (wr *Writer) begin(number, generation int) {
	wr.objects[number] = entry{wr.at, generation}
	wr.print("%d %d obj\n", number, generation)
}

// stream writes a stream object whose bytes come from write. entries are the other entries of its
// dictionary.
func (wr *Writer) stream(number int, entries string, write func(io.Writer) error) {
	length := wr.newObject()
	wr.begin(number, 0)
	wr.print("<< %s /Length %d 0 R >>\nstream\n", entries, length)
	start := wr.at
	if err := write(wr); err != nil && wr.err == nil {
		wr.err = err
	}
	size := wr.at - start
	wr.print("\nendstream\nendobj\n")
	wr.object(length, "%d", size)
}

// Image is the image of a page.
type Image struct {
	Width, Height int    // in pixels, as stored
	Orientation   int    // value of the Orientation tag in EXIF or TIFF; 1 means upright
	Bits          int    // per sample
	ColorSpace    string // PDF syntax, such as /DeviceGray
	Filter        string // name of the filter that decodes the data, without the slash
	Parameters    string // entries of the filter's dictionary; may be ""
	Inverted      bool   // invert the samples
	Write         func(io.Writer) error
}

// Page adds a page. width and height are the size of the upright page in points. image is nil if the
// page has none. The words are on the upright page.
func (wr *Writer) Page(width, height float64, image *Image, words ocr.Page) error {
	scale := min(1, maxSide/max(width, height, 1))
	width, height = max(width*scale, minSide), max(height*scale, minSide)
	page, content := wr.newObject(), wr.newObject()
	resources := ""
	var body bytes.Buffer
	if image != nil {
		number := wr.newObject()
		wr.stream(number, image.entries(), image.Write)
		resources = fmt.Sprintf(" /XObject << /Im0 %d 0 R >>", number)
		fmt.Fprintf(&body, "q %s cm /Im0 Do Q\n", placement(image.Orientation, width, height))
	}
	wr.fonts.text(&body, words, width, height)
	wr.stream(content, "/Filter /FlateDecode", func(w io.Writer) error { return deflate(w, body.Bytes()) })
	wr.object(page, "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %s %s] /Resources << /Font %d 0 R%s >> /Contents %d 0 R >>",
		pagesObject, number(width), number(height), fontsObject, resources, content)
	wr.pages = append(wr.pages, page)
	return wr.err
}

func (i *Image) entries() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent %d /ColorSpace %s /Filter /%s",
		i.Width, i.Height, i.Bits, i.ColorSpace, i.Filter)
	if i.Parameters != "" {
		fmt.Fprintf(&b, " /DecodeParms << %s >>", i.Parameters)
	}
	if i.Inverted {
		channels := map[string]int{"/DeviceRGB": 3, "/DeviceCMYK": 4}[i.ColorSpace]
		fmt.Fprintf(&b, " /Decode [%s]", strings.TrimSpace(strings.Repeat("1 0 ", max(channels, 1))))
	}
	return b.String()
}

func deflate(w io.Writer, content []byte) error {
	z := zlib.NewWriter(w)
	if _, err := z.Write(content); err != nil {
		return err
	}
	return z.Close()
}

// placement returns the matrix that turns an image upright and scales it to the page. The unit
// square of an image starts at its lower left corner.
func placement(orientation int, w, h float64) string {
	m := [6]float64{w, 0, 0, h, 0, 0}
	switch orientation {
	case 2:
		m = [6]float64{-w, 0, 0, h, w, 0}
	case 3:
		m = [6]float64{-w, 0, 0, -h, w, h}
	case 4:
		m = [6]float64{w, 0, 0, -h, 0, h}
	case 5:
		m = [6]float64{0, -h, -w, 0, w, h}
	case 6:
		m = [6]float64{0, -h, w, 0, 0, h}
	case 7:
		m = [6]float64{0, h, w, 0, 0, 0}
	case 8:
		m = [6]float64{0, h, -w, 0, w, 0}
	}
	return numbers(m[:]...)
}

// number returns a number in PDF syntax.
func number(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }

func numbers(list ...float64) string {
	texts := make([]string, 0, len(list))
	for _, v := range list {
		texts = append(texts, number(v))
	}
	return strings.Join(texts, " ")
}

// Close writes the end of the document.
func (wr *Writer) Close() error {
	var kids strings.Builder
	for _, page := range wr.pages {
		fmt.Fprintf(&kids, "%d 0 R ", page)
	}
	wr.object(pagesObject, "<< /Type /Pages /Kids [ %s] /Count %d >>", kids.String(), len(wr.pages))
	wr.object(catalogObject, "<< /Type /Catalog /Pages %d 0 R >>", pagesObject)
	wr.object(fontsObject, "<< %s >>", wr.writeFonts())
	return wr.finish(fmt.Sprintf("/Root %d 0 R", catalogObject))
}

// finish writes the table of the written objects and the trailer.
func (wr *Writer) finish(trailer string) error {
	start := wr.at
	wr.print("xref\n0 1\n0000000000 65535 f \n")
	for _, number := range slices.Sorted(maps.Keys(wr.objects)) {
		wr.print("%d 1\n%010d %05d n \n", number, wr.objects[number].offset, wr.objects[number].generation)
	}
	wr.print("trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n", wr.next, trailer, start)
	if wr.err == nil {
		wr.err = wr.out.Flush()
	}
	return wr.err
}
