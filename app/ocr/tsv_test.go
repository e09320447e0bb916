package ocr

import (
	"image"
	"slices"
	"testing"
)

func TestParseTSV(t *testing.T) {
	const rows = "1\t1\t0\t0\t0\t0\t0\t0\t100\t50\t-1\t\n" +
		"5\t1\t2\t3\t4\t1\t10\t20\t30\t10\t96.5\tDeed\n" +
		"5\t1\t2\t3\t4\t2\t90\t20\t30\t10\t120\tBo\u200bok\n" + // reaches beyond the image
		"5\t1\t2\t3\t4\t3\t10\t20\t30\t10\t-3\t \n" // blank
	words, err := parseTSV(rows, 100, 50)
	want := []tsvWord{
		{"Deed", image.Rect(10, 20, 40, 30), 96.5, 2, 3, 4},
		{"Book", image.Rect(90, 20, 100, 30), 100, 2, 3, 4},
	}
	if err != nil || !slices.Equal(words, want) {
		t.Errorf("parseTSV() = %v, %v, want %v", words, err, want)
	}
	for name, table := range map[string]string{
		"too few columns":           "5\t1\t2\t3\n",
		"a number that is a word":   "5\t1\tx\t3\t4\t1\t10\t20\t30\t10\t96\tDeed\n",
		"a confidence that is none": "5\t1\t2\t3\t4\t1\t10\t20\t30\t10\tNaN\tDeed\n",
	} {
		if words, err := parseTSV(table, 100, 50); err == nil {
			t.Errorf("parseTSV() of %s = %v, want an error", name, words)
		}
	}
}

func TestDirection(t *testing.T) {
	word := func(x, y, w, h int) tsvWord { return tsvWord{"Deed", image.Rect(x, y, x+w, y+h), 90, 1, 1, 1} }
	for _, c := range []struct {
		words []tsvWord
		want  int
	}{
		{nil, 0},
		{[]tsvWord{word(0, 0, 40, 10), word(50, 0, 40, 10)}, 0},
		{[]tsvWord{word(0, 0, 10, 40), word(0, 50, 10, 40), word(50, 0, 40, 10)}, 270},
		{[]tsvWord{word(0, 50, 10, 40), word(0, 0, 10, 40)}, 90},
	} {
		if got := orientation(c.words); got != c.want {
			t.Errorf("orientation(%v) = %d, want %d", c.words, got, c.want)
		}
	}
}

func TestPageOfWords(t *testing.T) {
	v := view{back: affine{a: 1, e: 1}}
	p := v.page([]tsvWord{
		{"a", image.Rect(0, 0, 50, 10), 50.4, 1, 1, 1}, {"b", image.Rect(50, 0, 100, 10), 50.6, 1, 1, 1},
		{"c", image.Rect(0, 10, 50, 20), 1, 1, 1, 2}, {"d", image.Rect(0, 20, 50, 30), 1, 1, 2, 1}, {"e", image.Rect(1, 40, 2, 50), 1, 2, 1, 1},
	}, 100, 50)
	want := []Word{
		{"a", Box{0, 0, 5000, 2000}, 50, 1, 1}, {"b", Box{5000, 0, 10000, 2000}, 51, 1, 1}, {"c", Box{0, 2000, 5000, 4000}, 1, 2, 1},
		{"d", Box{0, 4000, 5000, 6000}, 1, 3, 2}, {"e", Box{100, 8000, 200, 10000}, 1, 4, 3},
	}
	if !slices.Equal(p.Words, want) {
		t.Errorf("page() = %v, want %v", p.Words, want)
	}
}
