package query

import (
	"context"
	"testing"
)

// crowded is a dictionary in which each term has so many times the documents.
type crowded struct {
	*naive
	times int
}

func (c crowded) DocFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	known, err := c.naive.DocFreqs(ctx, terms)
	for t := range known {
		known[t] *= c.times
	}
	return known, err
}

// Of few letters alone, words of fields count as far as they are not in too many records,
// those of names with them.
func TestFewLettersAlone(t *testing.T) {
	t.Parallel()
	n := naiveOf(t, []Document{
		{Kind: Abstract, ID: 1, Fields: []string{"Section Two, second lot"}},
		{Kind: Abstract, ID: 2, Fields: []string{"the section line"}},
		{Kind: Abstract, ID: 3, Fields: []string{"a secret"}},
		{Kind: Abstract, ID: 4, Names: []string{"Secor"}},
		{Kind: File, ID: 1, Text: pages("of the second part")},
	})
	for _, row := range []struct {
		text  string
		times int
		want  string
	}{
		{"sec", 1, "a4 a3 a2 a1"},
		{"se", 1, "a4 a3 a2 a1"},
		{"sec ", 1, ""},
		{"sect", 1, "a2 a1"},
		{"sec", maxDocsAlone / 6, "a4 a3 a2 a1"},
		{"sec", maxDocsAlone / 3, "a4 a2 a1"}, // the commonest
		{"sec", maxDocsAlone / 2, "a4"},
		{"sec", maxDocsAlone + 1, "a4"},
	} {
		a, err := search(t.Context(), crowded{n, row.times}, Options{}.withDefaults(), Query{Text: row.text, Limit: 9})
		if got := names(a); err != nil || got != row.want || a.Fuzzy || a.Relaxed {
			t.Errorf("%q, %d times: %q, %v, want %q", row.text, row.times, got, err, row.want)
		}
	}
}
