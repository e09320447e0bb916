package sandbox

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/document"
)

// callbackError wraps an error returned by the caller's callback.
type callbackError struct{ cause error }

func (e *callbackError) Error() string { return e.cause.Error() }
func (e *callbackError) Unwrap() error { return e.cause }

// reportResult collects the report of an inspection.
type reportResult struct{ report document.Report }

func (r *reportResult) reset() {}

func (r *reportResult) add(kind byte, _ []byte, _ bool) error {
	return protocolError("unexpected frame %q during inspection", kind)
}

func (r *reportResult) finish(d taskDone) error {
	r.report = document.Report{MIME: d.MIME, Pages: d.Pages, Rejection: d.Rejection}
	return nil
}

// Maximum size of an image, even if the task's limits allow more.
const (
	maxImageBytes = 32 << 20
	maxImageSide  = 1 << 15
)

// imageResult assembles an image.
type imageResult struct {
	width  int // maximum width of the image in pixels
	header *imageHeader
	data   []byte
}

func (i *imageResult) reset() { i.header, i.data = nil, nil }

func (i *imageResult) add(kind byte, content []byte, _ bool) error {
	switch {
	case kind == frameImage && i.header == nil:
		var head imageHeader
		if err := decode(content, &head); err != nil {
			return err
		}
		i.header = &head
		return head.check(i.width)
	case kind == frameImageChunk && i.header != nil:
		if len(content) == 0 || len(content) > i.header.Size-len(i.data) {
			return protocolError("invalid image chunk of %d bytes after %d of %d bytes", len(content), len(i.data), i.header.Size)
		}
		// Don't allocate memory for the announced size in advance. The worker may announce a false
		// size.
		i.data = append(i.data, content...)
		return nil
	}
	return protocolError("unexpected frame %q while rendering a page", kind)
}

func (i *imageResult) finish(taskDone) error {
	if i.header == nil || len(i.data) != i.header.Size || !i.header.matchesType(i.data) {
		return protocolError("page image is incomplete")
	}
	return nil
}

func (i *imageResult) image() document.Image {
	return document.Image{MIME: i.header.MIME, Width: i.header.Width, Height: i.header.Height, Bytes: i.data}
}

func (h imageHeader) check(width int) error {
	if h.Width < 1 || h.Width > width || h.Height < 1 || h.Height > maxImageSide || h.Size < 1 || h.Size > maxImageBytes {
		return protocolError("page image of %d bytes, %d by %d pixels", h.Size, h.Width, h.Height)
	}
	return nil
}

const (
	mimePNG  = "image/png"
	mimeJPEG = "image/jpeg"
)

// matchesType reports whether data starts with the signature of its type. A PNG must also start
// with its size (W3C PNG, 11.2.2: the IHDR chunk comes first).
func (h imageHeader) matchesType(data []byte) bool {
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

// textResult passes each page to emit exactly once, even if the task needs several attempts.
type textResult struct {
	lim         document.ExtractLimits
	emit        func(page int, text string) error
	lastPage    int   // last page received in this attempt, or -1
	received    int64 // bytes received in this attempt
	lastEmitted int   // last page passed to emit, or -1

	pauseDeadline func(func() error) error // runs a function without counting its time toward the deadline
}

func (t *textResult) reset() { t.lastPage, t.received = -1, 0 }

func (t *textResult) add(kind byte, content []byte, lost bool) error {
	if kind != frameText || len(content) < pageNumberSize {
		return protocolError("unexpected frame %q of %d bytes while reading text", kind, len(content))
	}
	page, text := int(binary.BigEndian.Uint32(content)), content[pageNumberSize:]
	t.received += int64(len(text))
	switch {
	case page <= t.lastPage || page > t.lim.MaxPages:
		return protocolError("page %d after page %d, limit %d", page, t.lastPage, t.lim.MaxPages)
	case int64(len(text)) > t.lim.MaxPageTextBytes || t.received > t.lim.MaxTextBytes:
		return protocolError("too much text: %d bytes on the page, %d bytes in total", len(text), t.received)
	case !isCleanText(text):
		return protocolError("text contains invalid characters")
	}
	t.lastPage = page
	if lost || page <= t.lastEmitted {
		return nil
	}
	t.lastEmitted = page
	if err := t.pauseDeadline(func() error { return t.emit(page, string(text)) }); err != nil {
		return &callbackError{err}
	}
	return nil
}

func (t *textResult) finish(taskDone) error { return nil }

// isCleanText reports whether text is valid UTF-8 without control characters other than whitespace.
func isCleanText(text []byte) bool {
	return utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool { return cleanRune(r) < 0 })
}

// cleanRune returns r, or -1 if r is a control character that a worker must not send.
func cleanRune(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != '\f' {
		return -1
	}
	return r
}
