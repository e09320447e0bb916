package jobs

import (
	"context"
	"strings"
	"unicode/utf8"

	"deedkeep/app/document"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/sandbox"
	"deedkeep/app/search/query"
)

// Words returns the words of a page with their boxes, in reading order: those that OCR has read if
// the page's own text is missing or unusable, and otherwise those of the page's text. Page numbers
// start at 1. A page that wasn't read yet, or whose text has no positions, as in a Word document, has
// no words. Words returns NotFound if the document or the page doesn't exist.
func (p *Previews) Words(ctx context.Context, actor model.Actor, id uint64, page int) (ocr.Page, error) {
	file, err := p.vault.Files.Get(ctx, id)
	if err != nil {
		return ocr.Page{}, err
	}
	p.prefer(actor, file)
	read, found, err := p.vault.Texts.Words(file.Digest, page)
	if err != nil || found || file.MIME != model.MIMEPDF {
		return read, err
	}
	r, done, err := p.openRequest(ctx, file, actor.Record(), sandbox.View)
	if err != nil {
		return ocr.Page{}, err
	}
	defer done()
	r.RunToCompletion = true
	words, err := p.reader.Words(ctx, r, page, p.limits)
	if sandbox.IsDocumentError(err) {
		return ocr.Page{}, &errs.Error{Kind: errs.NotFound, Message: "The words of this page can't be read.", Err: err}
	}
	return words, err
}

// wordMarks returns the rectangles of each match of a text, or of its words, on a page that OCR has
// read, like Previews.Marks.
func wordMarks(ctx context.Context, page ocr.Page, typed string, words bool) [][]document.Rect {
	text := page.Text()
	spans, _ := query.NewFinder(typed, words).Find(ctx, text, MaxHits+1)
	marks := make([][]document.Rect, len(spans))
	starts := wordStarts(text, page.Words)
	first := 0 // the first word that may be in the span
	for i, span := range spans {
		for first < len(starts) && starts[first]+len(page.Words[first].Text) <= span.Start {
			first++
		}
		line := 0
		for k := first; k < len(starts) && starts[k] < span.End; k++ {
			word := page.Words[k]
			r := partOfBox(word, span.Start-starts[k], span.End-starts[k])
			if n := len(marks[i]); n > 0 && line == word.Line {
				marks[i][n-1] = enclosing(marks[i][n-1], r)
			} else {
				marks[i] = append(marks[i], r)
			}
			line = word.Line
		}
	}
	return marks
}

// wordStarts returns the position of each word in the text of the page.
func wordStarts(text string, words []ocr.Word) []int {
	starts := make([]int, 0, len(words))
	at := 0
	for _, w := range words {
		n := strings.Index(text[at:], w.Text)
		if n < 0 {
			break // not reached, because the text consists of the words
		}
		starts = append(starts, at+n)
		at += n + len(w.Text)
	}
	return starts
}

// partOfBox returns the part of a word's rectangle for the bytes from start to end of its text. All
// characters count as equally wide.
func partOfBox(w ocr.Word, start, end int) document.Rect {
	start, end = max(start, 0), min(end, len(w.Text))
	total := float64(max(utf8.RuneCountInString(w.Text), 1))
	left, width := float64(w.Box.Left), float64(w.Box.Right-w.Box.Left)
	x := func(to int) float64 {
		return (left + width*float64(utf8.RuneCountInString(w.Text[:to]))/total) / ocr.Scale
	}
	return document.Rect{Left: x(start), Right: x(end), Top: float64(w.Box.Top) / ocr.Scale, Bottom: float64(w.Box.Bottom) / ocr.Scale}
}

func enclosing(a, b document.Rect) document.Rect {
	return document.Rect{Left: min(a.Left, b.Left), Top: min(a.Top, b.Top), Right: max(a.Right, b.Right), Bottom: max(a.Bottom, b.Bottom)}
}
