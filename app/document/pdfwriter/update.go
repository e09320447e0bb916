package pdfwriter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/document/docio"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
)

// Limits of the objects that an Update keeps in memory: all those that aren't streams.
const (
	maxObject  = 16 << 20
	maxObjects = 64 << 20
	maxLevels  = 64 // of the tree of pages
)

// Update copies a PDF and adds invisible text to its pages. The document must be written to it first,
// as pdf.Document.Save writes it. The added text follows at the end of the file, as an incremental
// update (PDF 1.7, 7.5.6), so the bytes before it stay as they are.
type Update struct {
	*Writer
	pending []byte         // not scanned yet
	enough  int            // length of pending at which it is scanned again
	skip    int64          // bytes of a stream that follow
	kept    map[int]object // objects that aren't streams
	size    int            // of all kept objects
	copied  int            // bytes of the pages that were written again
	trailer []byte
	start   int64 // position of the table of objects
	last    int   // highest number of an object
	pages   []updatedPage
}

type object struct {
	generation int
	value      []byte
}

type updatedPage struct {
	number int
	text   int // number of the stream with the text
}

// NewUpdate returns an Update that writes to w.
func NewUpdate(w io.Writer) *Update { return &Update{Writer: newWriter(w, 0), kept: map[int]object{}} }

// Write writes the next part of the document.
func (u *Update) Write(p []byte) (int, error) {
	n, err := u.Writer.Write(p)
	if err != nil {
		return n, err
	}
	if u.err = u.scan(p); u.err != nil {
		return 0, u.err
	}
	return n, nil
}

// scan reads the objects in the next part of the document. If an object is incomplete, it waits until
// twice as many bytes are there, so that a long object isn't read again with each part.
func (u *Update) scan(p []byte) error {
	n := min(u.skip, int64(len(p)))
	u.skip -= n
	u.pending = append(u.pending, p[n:]...)
	if len(u.pending) < u.enough {
		return nil
	}
	return u.scanPending()
}

// scanPending reads the complete objects in the bytes that weren't scanned yet.
func (u *Update) scanPending() error {
	for u.skip == 0 {
		rest, err := u.scanNext(bytes.TrimLeft(u.pending, whiteSpace))
		if errors.Is(err, errIncomplete) {
			break
		}
		if err != nil {
			return err
		}
		n := min(u.skip, int64(len(rest)))
		u.skip -= n
		u.pending = rest[n:]
	}
	if len(u.pending) > maxObject {
		return fmt.Errorf("%w: an object of the PDF", docio.ErrTooLarge)
	}
	u.pending = append([]byte(nil), u.pending...) // so that the bytes before it are freed
	u.enough = min(2*len(u.pending), maxObject+1)
	return nil
}

// scanNext scans the next object, comment, or keyword. It returns what follows.
func (u *Update) scanNext(b []byte) (rest []byte, err error) {
	switch {
	case len(b) == 0:
		return nil, errIncomplete
	case b[0] == '%':
		_, rest, ok := bytes.Cut(b, []byte("\n"))
		if !ok && bytes.HasPrefix(b, []byte("%%EOF")) {
			return nil, nil
		}
		return rest, complete(ok)
	case b[0] >= '0' && b[0] <= '9':
		return u.scanObject(b)
	}
	word, rest, err := cutWord(b)
	switch {
	case err != nil:
		return nil, err
	case string(word) == "trailer":
		u.trailer, rest, err = cutValue(rest, 0)
		u.trailer = bytes.Clone(u.trailer)
	case string(word) == "startxref":
		var number []byte
		if number, rest, err = cutWord(bytes.TrimLeft(rest, whiteSpace)); err == nil {
			u.start, err = strconv.ParseInt(string(number), 10, 64)
		}
	case string(word) == "xref":
		// The table consists of numbers, "n", and "f".
		at := bytes.Index(rest, []byte("trailer"))
		if at < 0 {
			return nil, errIncomplete
		}
		rest = rest[at:]
	case string(word) == "endobj", string(word) == "endstream":
	default:
		err = fmt.Errorf("unexpected %.20q in the copy of a PDF", word)
	}
	return rest, err
}

// scanObject scans an object. If it is a stream, the following bytes are skipped.
func (u *Update) scanObject(b []byte) (rest []byte, err error) {
	var header [3][]byte // number, generation, "obj"
	rest = b
	for i := range header {
		if header[i], rest, err = cutWord(bytes.TrimLeft(rest, whiteSpace)); err != nil {
			return nil, err
		}
	}
	number, numberErr := strconv.Atoi(string(header[0]))
	generation, generationErr := strconv.Atoi(string(header[1]))
	if numberErr != nil || generationErr != nil || string(header[2]) != "obj" {
		return nil, fmt.Errorf("no object at %.40q in the copy of a PDF", b)
	}
	value, rest, err := cutValue(rest, 0)
	if err != nil {
		return nil, err
	}
	word, after, err := cutWord(bytes.TrimLeft(rest, whiteSpace))
	if err != nil {
		return nil, err
	}
	u.last = max(u.last, number)
	if string(word) == "stream" {
		return u.skipStream(value, after)
	}
	if u.size += len(value); u.size > maxObjects {
		return nil, fmt.Errorf("%w: the objects of the PDF", docio.ErrTooLarge)
	}
	u.kept[number] = object{generation, bytes.Clone(value)}
	return rest, nil
}

// skipStream skips the bytes of a stream.
func (u *Update) skipStream(dictionary, b []byte) (rest []byte, err error) {
	if len(b) < 2 {
		return nil, errIncomplete
	}
	rest = bytes.TrimPrefix(bytes.TrimPrefix(b, []byte("\r")), []byte("\n"))
	u.skip, err = strconv.ParseInt(string(parse(dictionary).value("Length")), 10, 64)
	if err != nil || u.skip < 0 {
		return nil, errors.New("stream without a length in the copy of a PDF")
	}
	return rest, nil
}

// AddText adds words to a page.
func (u *Update) AddText(place pdf.PagePlace, words ocr.Page) error {
	if u.next == 0 {
		if err := u.endCopy(); err != nil {
			return err
		}
	}
	var body bytes.Buffer
	fmt.Fprintf(&body, "\nQ q %s cm\n", numbers(place.Matrix[:]...))
	u.fonts.text(&body, words, place.Width, place.Height)
	body.WriteString("Q\n")
	page := updatedPage{number: place.Object, text: u.newObject()}
	u.stream(page.text, "/Filter /FlateDecode", func(w io.Writer) error { return deflate(w, body.Bytes()) })
	u.pages = append(u.pages, page)
	return u.err
}

// endCopy reads the end of the document, after which new objects may follow.
func (u *Update) endCopy() error {
	if u.err != nil {
		return u.err
	}
	if u.err = u.scanPending(); u.err != nil {
		return u.err
	}
	size, err := strconv.Atoi(string(parse(u.trailer).value("Size")))
	if err != nil || u.start == 0 {
		return errors.New("the copy of the PDF is incomplete")
	}
	u.next = max(size, u.last+1)
	return nil
}

// Close writes the changed pages and the end of the document.
func (u *Update) Close() error {
	if u.err != nil || len(u.pages) == 0 {
		return errors.Join(u.err, u.out.Flush())
	}
	fonts, save := u.writeFonts(), u.newObject()
	u.Writer.object(save, "<< /Length 2 >>\nstream\nq\n\nendstream")
	for _, p := range u.pages {
		if err := u.writePage(p, fonts, save); err != nil {
			return err
		}
	}
	trailer := parse(u.trailer).without("Size", "Prev", "XRefStm")
	return u.finish(trailer.String() + fmt.Sprintf("/Prev %d", u.start))
}

// writePage writes a page again: its content between the operators that save and restore the
// graphics state, and then its text.
func (u *Update) writePage(p updatedPage, fonts string, save int) error {
	old := u.kept[p.number]
	page := parse(old.value)
	if page == nil {
		return docio.Damaged("no page object %d", p.number)
	}
	contents := page.value("Contents")
	if array := u.resolve(contents); bytes.HasPrefix(array, []byte("[")) {
		contents = bytes.Trim(array, "[]")
	}
	resources := parse(u.resolve(u.inherited(page, "Resources")))
	own := parse(u.resolve(resources.value("Font")))
	own = slices.DeleteFunc(own, func(e [2][]byte) bool { return bytes.HasPrefix(e[0], []byte(fontPrefix)) }) // of an earlier copy
	written := fmt.Sprintf("<< %s/Contents [%d 0 R %s %d 0 R] /Resources << %s/Font << %s%s >> >> >>\nendobj\n",
		page.without("Contents", "Resources"), save, contents, p.text, resources.without("Font"), own, fonts)
	if u.copied += len(written); u.copied > maxObjects { // many pages may inherit the same large resources
		return fmt.Errorf("%w: the pages of the PDF", docio.ErrTooLarge)
	}
	u.begin(p.number, old.generation)
	u.print("%s", written)
	return u.err
}

// inherited returns an entry of a page or of the nodes above it.
func (u *Update) inherited(page dictionary, key string) []byte {
	for range maxLevels {
		if v := page.value(key); v != nil {
			return v
		}
		page = parse(u.resolve(page.value("Parent")))
	}
	return nil
}

// resolve returns the object that a value refers to, or the value itself if it isn't a reference.
func (u *Update) resolve(value []byte) []byte {
	for range maxLevels {
		number, rest, found := strings.Cut(string(value), " ")
		if n, err := strconv.Atoi(number); found && err == nil && strings.HasSuffix(rest, "R") {
			value = u.kept[n].value
			continue
		}
		break
	}
	return value
}
