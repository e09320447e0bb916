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

// wanted finds a word wherever it stands.
func wanted(word string) func([]rune) []pdf.Span {
	return func(text []rune) (spans []pdf.Span) {
		for i := range text {
			if strings.HasPrefix(string(text[i:]), word) {
				spans = append(spans, pdf.Span{Start: i, End: i + len([]rune(word))})
			}
		}
		return spans
	}
}

// TestMarks finds words on a page that is turned by 90 degrees: what runs upwards
// at its left is at its top when it is looked at.
func TestMarks(t *testing.T) {
	d := open(t, engine(t), fieldPage())
	for _, c := range []struct {
		word        string
		top, bottom float64 // within which it stands, of a page twice as high as wide
	}{
		{"Grant", 0.05, 0.12},
		{"Deed", 0.12, 0.20},
	} {
		marks, err := d.Marks(t.Context(), 1, wanted(c.word))
		if err != nil || len(marks) != 1 || len(marks[0]) != 1 {
			t.Fatalf("%s: %v, %v", c.word, marks, err)
		}
		r := marks[0][0]
		if r.Left < 0.03 || r.Left > 0.08 || r.Right > 0.5 || r.Right < 0.2 || r.Top < c.top || r.Bottom > c.bottom || r.Bottom <= r.Top {
			t.Errorf("%s at %+v", c.word, r)
		}
	}
	marks, err := d.Marks(t.Context(), 1, wanted("mortgage"))
	if err != nil || len(marks) != 0 {
		t.Errorf("what is not there: %v, %v", marks, err)
	}
	if _, err := d.Marks(t.Context(), 2, wanted("Deed")); err == nil {
		t.Error("a page that is not there has marks")
	}
	marks, err = d.Marks(t.Context(), 1, func([]rune) []pdf.Span { return []pdf.Span{{Start: -1, End: 2}, {Start: 0, End: 1 << 30}} })
	if err != nil || len(marks) != 0 {
		t.Errorf("spans outside: %v, %v", marks, err)
	}
}

// On the invisible text of a scan a mark covers the word as OCR laid it over the picture,
// with the comma that was read with it and the blank behind it, which Tesseract spread over
// the same width: without them the last letters would be cut. Text that is seen is marked
// to the letter.
func TestMarksOfAScan(t *testing.T) {
	e, samples := engine(t), vaulttest.Samples(t)
	for _, row := range []struct {
		name, file  string
		page        int
		word        string
		left, right float64 // of the first mark, in points of a page 612 wide
	}{
		{"its comma", "title/warranty-deed-g4-ocr-layer.pdf", 4, "Public", 501.6, 534.3},
		{"a number at the end of a line", "title/warranty-deed-g4-ocr-layer.pdf", 1, "201904170093382", 356.9, 434.7},
		{"a part of a word", "title/warranty-deed-g4-ocr-layer.pdf", 4, "ubl", 501.6, 534.3},
		{"a phrase", "title/warranty-deed-g4-ocr-layer.pdf", 4, "Notary Publi", 464, 497},
		{"text that is seen", "title/open-end-mortgage.pdf", 1, "ORTGAG", 320.4, 385.9},
	} {
		at := slices.IndexFunc(samples, func(s vaulttest.Sample) bool { return s.Path == row.file })
		if at < 0 {
			t.Fatalf("%s: there is no sample %s", row.name, row.file)
		}
		b, err := os.ReadFile(samples[at].File)
		if err != nil {
			t.Fatal(err)
		}
		marks, err := open(t, e, b).Marks(t.Context(), row.page, wanted(row.word))
		if err != nil || len(marks) == 0 || len(marks[0]) == 0 {
			t.Fatalf("%s: %v, %v", row.name, marks, err)
		}
		got := marks[0][0]
		if l, r := got.Left*612, got.Right*612; math.Abs(l-row.left) > 0.2 || math.Abs(r-row.right) > 0.2 {
			t.Errorf("%s: got %.2f to %.2f, want %.2f to %.2f", row.name, l, r, row.left, row.right)
		}
	}
}
