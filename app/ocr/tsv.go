package ocr

import (
	"errors"
	"image"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tsvWord is a word that Tesseract has read. Its numbers are those of Tesseract: a block contains
// paragraphs, and a paragraph lines.
type tsvWord struct {
	text                   string
	box                    image.Rectangle // in pixels
	confidence             float64         // 0 to 100
	block, paragraph, line int
}

var errTSV = errors.New("invalid table from Tesseract")

// columns is the number of columns in Tesseract's tables of words: level, page, block, paragraph,
// line, word, left, top, width, height, confidence, text.
const columns = 12

// wordLevel is the value of the first column in the rows of words.
const wordLevel = "5"

// parseTSV returns the words of a table that Tesseract has created for an image of w x h pixels. It
// leaves out words without printable characters.
func parseTSV(table string, w, h int) ([]tsvWord, error) {
	var words []tsvWord
	for row := range strings.Lines(table) {
		cells := strings.SplitN(strings.TrimRight(row, "\n"), "\t", columns)
		if len(cells) != columns {
			return nil, errTSV
		}
		if cells[0] != wordLevel {
			continue
		}
		var n [8]int
		for i := range n {
			v, err := strconv.Atoi(cells[2+i])
			if err != nil {
				return nil, errTSV
			}
			n[i] = v
		}
		confidence, err := strconv.ParseFloat(cells[10], 64)
		if err != nil || math.IsNaN(confidence) {
			return nil, errTSV
		}
		word := tsvWord{
			text: shorten(clean(cells[11])), confidence: min(max(confidence, 0), 100), block: n[0], paragraph: n[1], line: n[2],
			box: image.Rect(n[4], n[5], n[4]+n[6], n[5]+n[7]).Intersect(image.Rect(0, 0, w, h)),
		}
		if word.text != "" && !word.box.Empty() {
			words = append(words, word)
		}
	}
	return words, nil
}

// clean returns the printable characters of a word. Spaces aren't printable in a word.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// shorten returns the start of a word that is too long to be a real one.
func shorten(text string) string {
	if len(text) <= MaxWordText {
		return text
	}
	n := MaxWordText
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
