package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer gathers the text of one page after another and hands each on.
type writer struct {
	lim  ExtractLimits
	left int64 // bytes of text that the document may still have
	emit func(page int, text string) error
	page int // 0 before the first, and for a document without pages
	buf  strings.Builder
	cut  bool // something did not fit
}

// begin ends the page before and begins page n.
func (w *writer) begin(n int) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.page = n
	return nil
}

// end hands the last page on and says whether the limits cut something off.
func (w *writer) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.cut {
		return ErrTooLarge
	}
	return nil
}

// full reports whether no more text fits into the document.
func (w *writer) full() bool { return w.left <= 0 }

// pageFull reports whether no more text fits onto the page.
func (w *writer) pageFull() bool { return w.room() <= 0 }

func (w *writer) room() int64 {
	room := w.left - int64(w.buf.Len())
	if w.page > 0 {
		room = min(room, w.lim.MaxPageTextBytes-int64(w.buf.Len()))
	}
	return room
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

// text adds s without control characters; "\r\n" and "\r" become "\n", bytes
// that are no UTF-8 U+FFFD.
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

// character adds r, unless it is a control character or none at all.
func (w *writer) character(r rune) {
	if r == '\n' || r == '\t' || r != 0xFFFE && r != 0xFFFF && !unicode.IsControl(r) {
		w.rune(r)
	}
}

func (w *writer) rune(r rune) {
	if int64(utf8.RuneLen(r)) > w.room() {
		w.cut = true
		return
	}
	w.buf.WriteRune(r)
}

// line ends the line, unless it is empty and the one before was too.
func (w *writer) line() {
	if s := w.buf.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		w.rune('\n')
	}
}
