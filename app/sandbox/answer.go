package sandbox

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/document"
)

// receiverError is the error of whoever was given the text.
type receiverError struct{ cause error }

func (e *receiverError) Error() string { return e.cause.Error() }
func (e *receiverError) Unwrap() error { return e.cause }

// verdictAnswer waits for a verdict.
type verdictAnswer struct{ report document.Report }

func (a *verdictAnswer) begin() {}

func (a *verdictAnswer) take(kind byte, _ []byte, _ bool) error {
	return breach("frame %q while a document is inspected", kind)
}

func (a *verdictAnswer) end(d done) error {
	a.report = document.Report{MIME: d.MIME, Pages: d.Pages, Rejection: d.Refusal}
	return nil
}

// The greatest picture that is taken, whatever was allowed to the child.
const (
	mostPicture = 32 << 20
	mostSide    = 1 << 15
)

// pictureAnswer puts a picture together.
type pictureAnswer struct {
	width int // asked for
	head  *image
	data  []byte
}

func (a *pictureAnswer) begin() { a.head, a.data = nil, nil }

func (a *pictureAnswer) take(kind byte, content []byte, _ bool) error {
	switch {
	case kind == frameImage && a.head == nil:
		var head image
		if err := decode(content, &head); err != nil {
			return err
		}
		a.head = &head
		return head.check(a.width)
	case kind == framePiece && a.head != nil:
		if len(content) == 0 || len(content) > a.head.Size-len(a.data) {
			return breach("piece of %d bytes after %d of %d", len(content), len(a.data), a.head.Size)
		}
		// What has been announced is not yet there: room grows with what comes.
		a.data = append(a.data, content...)
		return nil
	}
	return breach("frame %q while a page is drawn", kind)
}

func (a *pictureAnswer) end(done) error {
	if a.head == nil || len(a.data) != a.head.Size || !a.head.begins(a.data) {
		return breach("no whole picture")
	}
	return nil
}

func (a *pictureAnswer) picture() document.Image {
	return document.Image{MIME: a.head.MIME, Width: a.head.Width, Height: a.head.Height, Bytes: a.data}
}

func (h image) check(width int) error {
	if h.Width < 1 || h.Width > width || h.Height < 1 || h.Height > mostSide || h.Size < 1 || h.Size > mostPicture {
		return breach("picture of %d bytes, %d by %d", h.Size, h.Width, h.Height)
	}
	return nil
}

const (
	mimePNG  = "image/png"
	mimeJPEG = "image/jpeg"
)

// begins reports whether data begins as its type says: a PNG with its size
// (W3C PNG, 11.2.2: IHDR comes first), a JPEG with its mark.
func (h image) begins(data []byte) bool {
	switch h.MIME {
	case mimePNG:
		be := binary.BigEndian
		return len(data) >= 24 && bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")) &&
			be.Uint32(data[16:]) == uint32(h.Width) && be.Uint32(data[20:]) == uint32(h.Height)
	case mimeJPEG:
		return bytes.HasPrefix(data, []byte{0xFF, 0xD8, 0xFF})
	}
	return false
}

// textAnswer hands text on, each page once however many attempts it takes.
type textAnswer struct {
	lim  document.ExtractLimits
	emit func(page int, text string) error
	last int   // page that came last in this attempt; -1: none
	sum  int64 // bytes that came in this attempt
	out  int   // page that was handed on last; -1: none

	aside func(func() error) error // does what is not the child's time
}

func (a *textAnswer) begin() { a.last, a.sum = -1, 0 }

func (a *textAnswer) take(kind byte, content []byte, lost bool) error {
	if kind != frameText || len(content) < pageSize {
		return breach("frame %q of %d bytes while text is read", kind, len(content))
	}
	page, text := int(binary.BigEndian.Uint32(content)), content[pageSize:]
	a.sum += int64(len(text))
	switch {
	case page <= a.last || page > a.lim.MaxPages:
		return breach("page %d after %d of at most %d", page, a.last, a.lim.MaxPages)
	case int64(len(text)) > a.lim.MaxPageTextBytes || a.sum > a.lim.MaxTextBytes:
		return breach("page of %d bytes of text, %d in all", len(text), a.sum)
	case !legible(text):
		return breach("text that is not clean")
	}
	a.last = page
	if lost || page <= a.out {
		return nil
	}
	a.out = page
	if err := a.aside(func() error { return a.emit(page, string(text)) }); err != nil {
		return &receiverError{err}
	}
	return nil
}

func (a *textAnswer) end(done) error { return nil }

// legible reports whether text is UTF-8 without control characters other than
// those that part lines, words and columns.
func legible(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return clean(r) < 0 })
}

// clean maps a character of a document to what of it may leave the child: -1 is
// nothing.
func clean(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != '\f' {
		return -1
	}
	return r
}
