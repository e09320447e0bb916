package query

import (
	"context"
	"fmt"
	"testing"
)

// scaledEngine multiplies all document frequencies by a factor.
type scaledEngine struct {
	*naiveEngine
	factor int
}

func (s scaledEngine) DocFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	freqs, err := s.naiveEngine.DocFreqs(ctx, terms)
	for t := range freqs {
		freqs[t] *= s.factor
	}
	return freqs, err
}

// A query of a few letters finds words of fields as long as the words of fields and names with that
// prefix are not too frequent.
func TestShortPrefixAlone(t *testing.T) {
	t.Parallel()
	n := newNaiveEngine(t, []Document{
		{Kind: Abstract, ID: 1, Fields: []string{"Section Two, second lot"}},
		{Kind: Abstract, ID: 2, Fields: []string{"the section line"}},
		{Kind: Abstract, ID: 3, Fields: []string{"a secret"}},
		{Kind: Abstract, ID: 4, Names: []string{"Secor"}},
		{Kind: File, ID: 1, Text: pages("of the second part")},
	})
	for _, row := range []struct {
		text   string
		factor int
		want   string
	}{
		{"sec", 1, "a4 a3 a2 a1"},
		{"se", 1, "a4 a3 a2 a1"},
		{"sec ", 1, ""},
		{"sect", 1, "a2 a1"},
		{"sec", maxDocsAlone / 6, "a4 a3 a2 a1"},
		{"sec", maxDocsAlone / 3, "a4 a2 a1"}, // without the word of the largest frequency
		{"sec", maxDocsAlone / 2, "a4"},
		{"sec", maxDocsAlone + 1, "a4"},
	} {
		t.Run(fmt.Sprintf("%q times %d", row.text, row.factor), func(t *testing.T) {
			a, err := search(t.Context(), scaledEngine{n, row.factor}, Options{}.withDefaults(), Query{Text: row.text, Limit: 9})
			if got := formatHits(a); err != nil || got != row.want || a.Fuzzy || a.Relaxed {
				t.Errorf("search(%q) with frequencies times %d = %q, %v, want %q", row.text, row.factor, got, err, row.want)
			}
		})
	}
}
