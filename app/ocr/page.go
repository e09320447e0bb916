package ocr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scale is the width and the height of every page in the units of a Box.
const Scale = 10000

// Box is a rectangle on the page as the viewer shows it, from its upper left corner. A unit is
// 1/Scale of the page's width or height.
type Box struct {
	Left   int `json:"l"`
	Top    int `json:"t"`
	Right  int `json:"r"`
	Bottom int `json:"b"`
}

// Word is one word on a page.
type Word struct {
	Text       string `json:"w"` // without spaces
	Box        Box    `json:"x"`
	Confidence int    `json:"c"` // 0 to 100
	// Line counts the lines of the page from 1. A paragraph or a column starts with a new
	// Paragraph, which also counts from 1.
	Line      int `json:"n"`
	Paragraph int `json:"p"`
}

// Page is what was read on one page. It has no words if the page is blank or can't be read.
type Page struct {
	Words []Word `json:"words,omitempty"`
	// Rotation is how many degrees the displayed page must be rotated clockwise to be upright: 0,
	// 90, 180, or 270.
	Rotation int `json:"rotation,omitempty"`
	// Failed says that the page could not be read, for example because its image is damaged.
	Failed bool `json:"failed,omitempty"`
}

// Text returns the words of the page. A line ends with a line feed, a paragraph with two.
func (p Page) Text() string {
	var b strings.Builder
	for i, w := range p.Words {
		if i > 0 {
			switch before := p.Words[i-1]; {
			case before.Paragraph != w.Paragraph:
				b.WriteString("\n\n")
			case before.Line != w.Line:
				b.WriteByte('\n')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(w.Text)
	}
	return b.String()
}

// Confidence returns the mean confidence of the words, weighted by their length, from 0 to 100.
// It returns 0 for a page without words.
func (p Page) Confidence() int {
	sum, letters := 0, 0
	for _, w := range p.Words {
		sum += w.Confidence * len(w.Text)
		letters += len(w.Text)
	}
	if letters == 0 {
		return 0
	}
	return (sum + letters/2) / letters
}

// Limits on a Page from a process that reads documents, which isn't trusted.
const (
	MaxWords    = 20000 // on a page
	MaxWordText = 256   // bytes of a word
)

// Valid reports whether a word has text within the limits and a box on the page.
func (w Word) Valid() bool {
	box := w.Box
	return w.Text != "" && len(w.Text) <= MaxWordText && utf8.ValidString(w.Text) && !strings.ContainsFunc(w.Text, isSpaceOrControl) &&
		box.Left >= 0 && box.Left <= box.Right && box.Right <= Scale && box.Top >= 0 && box.Top <= box.Bottom && box.Bottom <= Scale &&
		w.Confidence >= 0 && w.Confidence <= 100 && w.Line >= 1 && w.Line <= MaxWords && w.Paragraph >= 1 && w.Paragraph <= MaxWords
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
