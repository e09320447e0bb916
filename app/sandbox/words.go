package sandbox

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
)

// maxWordsPerFrame is chosen so that a frame with the longest words is smaller than its limit.
const maxWordsPerFrame = 256

// words sends the words of a page that has its own text.
func (s *session) words(ctx context.Context, doc io.ReaderAt, t task) error {
	var words []ocr.Word
	rects, err := document.Highlights(ctx, s.source(doc, t), t.Page, func(characters []rune) []pdf.Span {
		found, spans := pageWords(characters)
		words = found
		return spans
	}, t.Extract)
	if err != nil {
		return err
	}
	return s.sendWords(placeWords(words, rects))
}

// sendWords sends words in frames.
func (s *session) sendWords(words []ocr.Word) error {
	for chunk := range slices.Chunk(words, maxWordsPerFrame) {
		if err := s.send(frameWords, chunk); err != nil {
			return err
		}
	}
	return nil
}

// pageWords returns the words of a page, without their boxes, and their ranges in its characters.
func pageWords(characters []rune) (words []ocr.Word, spans []pdf.Span) {
	line, paragraph, breaks := 1, 1, 0
	for start := 0; start < len(characters) && len(words) < ocr.MaxWords; {
		if c := characters[start]; unicode.IsSpace(c) || unicode.IsControl(c) {
			if c == '\n' {
				breaks++
			}
			start++
			continue
		}
		end := start
		for end < len(characters) && !unicode.IsSpace(characters[end]) && !unicode.IsControl(characters[end]) {
			end++
		}
		if len(words) > 0 && breaks > 0 {
			line++
		}
		if len(words) > 0 && breaks > 1 {
			paragraph++
		}
		breaks = 0
		text := truncate(strings.ToValidUTF8(string(characters[start:end]), "\uFFFD"), ocr.MaxWordText)
		words = append(words, ocr.Word{Text: text, Confidence: 100, Line: line, Paragraph: paragraph})
		spans = append(spans, pdf.Span{Start: start, End: end})
		start = end
	}
	return words, spans
}

// placeWords returns the words that are visible, with their boxes.
func placeWords(words []ocr.Word, rects [][]document.Rect) (placed []ocr.Word) {
	unit := func(fraction float64) int { return int(math.Round(fraction * ocr.Scale)) }
	for i, list := range rects[:min(len(rects), len(words))] {
		if len(list) == 0 {
			continue
		}
		r := list[0] // a word that is broken at the end of a line has the box of its start
		words[i].Box = ocr.Box{Left: unit(r.Left), Top: unit(r.Top), Right: unit(r.Right), Bottom: unit(r.Bottom)}
		placed = append(placed, words[i])
	}
	return placed
}

// wordsResult collects the words that a worker sends for one page.
type wordsResult struct {
	words    []ocr.Word
	rotation int
}

func (wr *wordsResult) reset() { wr.words = nil }

func (wr *wordsResult) add(kind byte, content []byte, _ bool) error {
	if kind != frameWords {
		return protocolError("unexpected frame %q while reading words", kind)
	}
	var words []ocr.Word
	if err := decode(content, &words); err != nil {
		return err
	}
	if i := slices.IndexFunc(words, func(w ocr.Word) bool { return !w.Valid() }); i >= 0 {
		return protocolError("invalid word %+v", words[i])
	}
	if wr.words = append(wr.words, words...); len(words) == 0 || len(wr.words) > ocr.MaxWords {
		return protocolError("invalid number of words: %d", len(wr.words))
	}
	return nil
}

func (wr *wordsResult) finish(d taskDone) error {
	if d.Rotation < 0 || d.Rotation > 270 || d.Rotation%90 != 0 {
		return protocolError("invalid rotation of a page: %d", d.Rotation)
	}
	wr.rotation = d.Rotation
	return nil
}

// Words returns the words of a PDF page that has its own text. Page numbers start at 1. Words
// returns the same errors as PageImage.
func (p *Pool) Words(ctx context.Context, r Request, page int, lim document.ExtractLimits) (ocr.Page, error) {
	a := &wordsResult{}
	err := p.run(ctx, r, task{Task: taskWords, Extract: withDefaultLimits(lim), Page: page}, a)
	return ocr.Page{Words: a.words}, err
}

// ReadPage reads the words on the image of a page with Tesseract. Page numbers start at 1. It
// returns the same errors as PageImage, and ocr.ErrUnreadable, which is a document error.
//
// It takes seconds and a lot of memory, so it should have its own Pool.
func (p *Pool) ReadPage(ctx context.Context, r Request, page int, lim document.ExtractLimits) (ocr.Page, error) {
	a := &wordsResult{}
	if err := p.run(ctx, r, task{Task: taskOCR, Extract: withDefaultLimits(lim), Page: page}, a); err != nil {
		return ocr.Page{}, err
	}
	return ocr.Page{Words: a.words, Rotation: a.rotation}, nil
}

// read reads the words in the worker and sends them.
func (s *session) read(ctx context.Context, doc io.ReaderAt, t task) (taskDone, error) {
	reader, err := s.engine.loadOCR(ctx)
	if err != nil {
		return taskDone{}, err
	}
	scan, dpi, err := document.Scan(ctx, s.source(doc, t), t.Page, t.Extract)
	if err != nil {
		return taskDone{}, err
	}
	page, err := reader.Read(ctx, scan, dpi)
	if err != nil {
		return taskDone{}, err
	}
	return taskDone{Rotation: page.Rotation}, s.sendWords(page.Words)
}
