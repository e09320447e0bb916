package docio

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextWriter collects the text of one page at a time within the limits and then emits it.
type TextWriter struct {
	Limits    ExtractLimits
	Truncated bool  // whether some text didn't fit
	left      int64 // number of bytes of text that the document may still have
	emit      func(page int, text string) error
	page      int // 0 before the first page and in a document without pages
	buf       strings.Builder
}

// ReadText calls read and emits the text that it writes. It also emits the text before a damage, so
// that users can search for it. It returns the error of read, or ErrTooLarge if some text didn't fit.
// An error of emit is returned as a FaultError.
func (r *Reader) ReadText(lim ExtractLimits, emit func(page int, text string) error, read func(out *TextWriter) error) error {
	lim = lim.WithDefaults()
	out := &TextWriter{Limits: lim, left: lim.MaxTextBytes, emit: emit}
	err := read(out)
	if r.err != nil {
		return r.err
	}
	if ended := out.end(); err == nil || !errors.Is(ended, ErrTooLarge) && ended != nil {
		return ended
	}
	return err
}

// Begin emits the current page and starts page n.
func (w *TextWriter) Begin(n int) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.page = n
	return nil
}

// Pages calls write for each of n pages until the limits on pages and text are reached.
func (w *TextWriter) Pages(n int, write func(i int) error) error {
	for i := range n {
		if i >= w.Limits.MaxPages || w.Full() {
			w.Truncated = true
			return nil
		}
		if err := w.Begin(i + 1); err != nil {
			return err
		}
		if err := write(i); err != nil {
			return err
		}
	}
	return nil
}

// end emits the last page. It returns ErrTooLarge if some text didn't fit.
func (w *TextWriter) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.Truncated {
		return ErrTooLarge
	}
	return nil
}

// Full reports whether the document has reached its text limit.
func (w *TextWriter) Full() bool { return w.left <= 0 }

// PageFull reports whether the page has reached its text limit.
func (w *TextWriter) PageFull() bool { return w.Free() <= 0 }

// Free returns the number of bytes of text that still fit on the page.
func (w *TextWriter) Free() int64 {
	free := w.left - int64(w.buf.Len())
	if w.page > 0 {
		free = min(free, w.Limits.MaxPageTextBytes-int64(w.buf.Len()))
	}
	return free
}

func (w *TextWriter) flush() error {
	text := w.buf.String()
	w.buf.Reset()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	w.left -= int64(len(text))
	if err := w.emit(max(w.page, 1), text); err != nil {
		return &FaultError{Cause: err}
	}
	return nil
}

// WriteText writes s without control characters. "\r\n" and "\r" become "\n". Bytes that aren't valid
// UTF-8 become U+FFFD.
func (w *TextWriter) WriteText(s string) {
	for i, r := range s {
		if r == '\r' {
			if i+1 < len(s) && s[i+1] == '\n' {
				continue
			}
			r = '\n'
		}
		w.WriteCharacter(r)
	}
}

// WriteCharacter writes r unless it is a control character or a noncharacter.
func (w *TextWriter) WriteCharacter(r rune) {
	if r == '\n' || r == '\t' || r != 0xFFFE && r != 0xFFFF && !unicode.IsControl(r) {
		w.WriteRune(r)
	}
}

// WriteRune writes r if it fits.
func (w *TextWriter) WriteRune(r rune) {
	if int64(utf8.RuneLen(r)) > w.Free() {
		w.Truncated = true
		return
	}
	w.buf.WriteRune(r)
}

// EndLine ends the line. It writes at most one empty line in a row.
func (w *TextWriter) EndLine() {
	if s := w.buf.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		w.WriteRune('\n')
	}
}
