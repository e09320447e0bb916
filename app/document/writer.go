package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer collects the text of one page at a time within the limits and then emits it.
type writer struct {
	lim       ExtractLimits
	left      int64 // number of bytes of text that the document may still have
	emit      func(page int, text string) error
	page      int // 0 before the first page and in a document without pages
	buf       strings.Builder
	truncated bool // whether some text didn't fit
}

// begin emits the current page and starts page n.
func (w *writer) begin(n int) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.page = n
	return nil
}

// pages calls write for each of n pages until the limits on pages and text are reached.
func (w *writer) pages(n int, write func(i int) error) error {
	for i := range n {
		if i >= w.lim.MaxPages || w.full() {
			w.truncated = true
			return nil
		}
		if err := w.begin(i + 1); err != nil {
			return err
		}
		if err := write(i); err != nil {
			return err
		}
	}
	return nil
}

// end emits the last page. It returns ErrTooLarge if some text didn't fit.
func (w *writer) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.truncated {
		return ErrTooLarge
	}
	return nil
}

// full reports whether the document has reached its text limit.
func (w *writer) full() bool { return w.left <= 0 }

// pageFull reports whether the page has reached its text limit.
func (w *writer) pageFull() bool { return w.free() <= 0 }

// free returns the number of bytes of text that still fit on the page.
func (w *writer) free() int64 {
	free := w.left - int64(w.buf.Len())
	if w.page > 0 {
		free = min(free, w.lim.MaxPageTextBytes-int64(w.buf.Len()))
	}
	return free
}

func (w *writer) flush() error {
	text := w.buf.String()
	w.buf.Reset()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	w.left -= int64(len(text))
	if err := w.emit(max(w.page, 1), text); err != nil {
		return &faultError{err}
	}
	return nil
}

// text writes s without control characters. "\r\n" and "\r" become "\n". Bytes that aren't valid
// UTF-8 become U+FFFD.
func (w *writer) text(s string) {
	for i, r := range s {
		if r == '\r' {
			if i+1 < len(s) && s[i+1] == '\n' {
				continue
			}
			r = '\n'
		}
		w.character(r)
	}
}

// character writes r unless it is a control character or a noncharacter.
func (w *writer) character(r rune) {
	if r == '\n' || r == '\t' || r != 0xFFFE && r != 0xFFFF && !unicode.IsControl(r) {
		w.rune(r)
	}
}

// rune writes r if it fits.
func (w *writer) rune(r rune) {
	if int64(utf8.RuneLen(r)) > w.free() {
		w.truncated = true
		return
	}
	w.buf.WriteRune(r)
}

// line ends the line. It writes at most one empty line in a row.
func (w *writer) line() {
	if s := w.buf.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		w.rune('\n')
	}
}
