//go:build !race

package pdf_test

import (
	"strings"
	"testing"

	"deedkeep/app/pdf"
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
