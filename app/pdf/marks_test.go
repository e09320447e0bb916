//go:build !race

package pdf_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
)

// findAll returns a function that finds every occurrence of a word.
func findAll(word string) func([]rune) []pdf.Span {
	return func(text []rune) (spans []pdf.Span) {
		for i := range text {
			if strings.HasPrefix(string(text[i:]), word) {
				spans = append(spans, pdf.Span{Start: i, End: i + len([]rune(word))})
			}
		}
		return spans
	}
}

// TestMarks finds words on a page that is rotated by 90 degrees. Text that runs upward along the
// left side of the page is at the top of the upright page.
func TestMarks(t *testing.T) {
	d := open(t, engine(t), fieldPage())
	for _, c := range []struct {
		word        string
		top, bottom float64 // expected position of the word, on a page that is twice as high as wide
	}{
		{"Grant", 0.05, 0.12},
		{"Deed", 0.12, 0.20},
	} {
		marks, err := d.Marks(t.Context(), 1, findAll(c.word))
		if err != nil || len(marks) != 1 || len(marks[0]) != 1 {
			t.Fatalf("Marks(%s) = %v, %v, want one rectangle", c.word, marks, err)
		}
		r := marks[0][0]
		if r.Left < 0.03 || r.Left > 0.08 || r.Right > 0.5 || r.Right < 0.2 || r.Top < c.top || r.Bottom > c.bottom || r.Bottom <= r.Top {
			t.Errorf("Marks(%s) = %+v, want between %v and %v", c.word, r, c.top, c.bottom)
		}
	}
	marks, err := d.Marks(t.Context(), 1, findAll("mortgage"))
	if err != nil || len(marks) != 0 {
		t.Errorf("Marks of a missing word = %v, %v, want none", marks, err)
	}
	if _, err := d.Marks(t.Context(), 2, findAll("Deed")); err == nil {
		t.Error("Marks of a missing page: no error")
	}
	marks, err = d.Marks(t.Context(), 1, func([]rune) []pdf.Span { return []pdf.Span{{Start: -1, End: 2}, {Start: 0, End: 1 << 30}} })
	if err != nil || len(marks) != 0 {
		t.Errorf("Marks of spans outside the text = %v, %v, want none", marks, err)
	}
}

// TestMarksOfAScan checks that a mark on the invisible text of a scan covers the complete word as
// OCR placed it on the image. The mark includes a comma that was recognized with the word. It also
// includes the space after the word because Tesseract counts that space as part of the word's area.
// Without the space, the last letters would be cut off. In visible text, a mark covers exactly the
// matching letters.
func TestMarksOfAScan(t *testing.T) {
	e, samples := engine(t), vaulttest.Samples(t)
	for _, row := range []struct {
		name, file  string
		page        int
		word        string
		left, right float64 // position of the first mark in points on a page that is 612 wide
	}{
		{"its comma", "title/warranty-deed-g4-ocr-layer.pdf", 4, "Public", 501.6, 534.3},
		{"a number at the end of a line", "title/warranty-deed-g4-ocr-layer.pdf", 1, "201904170093382", 356.9, 434.7},
		{"a part of a word", "title/warranty-deed-g4-ocr-layer.pdf", 4, "ubl", 501.6, 534.3},
		{"a phrase", "title/warranty-deed-g4-ocr-layer.pdf", 4, "Notary Publi", 464, 497},
		{"visible text", "title/open-end-mortgage.pdf", 1, "ORTGAG", 320.4, 385.9},
	} {
		at := slices.IndexFunc(samples, func(s vaulttest.Sample) bool { return s.Path == row.file })
		if at < 0 {
			t.Fatalf("%s: no sample %s", row.name, row.file)
		}
		b, err := os.ReadFile(samples[at].File)
		if err != nil {
			t.Fatalf("os.ReadFile: %v", err)
		}
		marks, err := open(t, e, b).Marks(t.Context(), row.page, findAll(row.word))
		if err != nil || len(marks) == 0 || len(marks[0]) == 0 {
			t.Fatalf("%s: Marks() = %v, %v, want a rectangle", row.name, marks, err)
		}
		got := marks[0][0]
		if l, r := got.Left*612, got.Right*612; math.Abs(l-row.left) > 0.2 || math.Abs(r-row.right) > 0.2 {
			t.Errorf("%s: got %.2f to %.2f, want %.2f to %.2f", row.name, l, r, row.left, row.right)
		}
	}
}
