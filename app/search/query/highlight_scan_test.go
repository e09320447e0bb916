package query

import (
	"context"
	"strings"
	"testing"
)

// endingContext is a context whose deadline passes after a given number of calls of Err.
type endingContext struct {
	context.Context
	checks, limit int
}

func (e *endingContext) Err() error {
	if e.checks++; e.checks > e.limit {
		return context.DeadlineExceeded
	}
	return nil
}

// Highlighting stops when its context ends, no matter how much work is left. It then returns no
// marks.
func TestHighlightStopsWithContext(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	for letter := 'a'; letter <= 'z'; letter++ {
		words.WriteString("grant" + string(letter) + "r ")
	}
	for _, row := range []struct{ name, query, part string }{
		{"misspelled words", words.String(), "grantor and grantee of the parish "},
		{"misspelled words in a text without matches", words.String(), "mortgages "},
		{"single word", "deed ", "deed "},
		{"phrase", `"` + strings.Repeat("aa ", 16) + `"`, "aa "},
		{"numbers", strings.Repeat("12-3-045 ", 8) + "12", "12 3 045 "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := NewHighlighter(row.query).Fuzzy()
			text := "grantor 12-3-045 deed " + strings.Repeat(row.part, (256<<10)/len(row.part))
			all := &endingContext{Context: t.Context(), limit: 1 << 30}
			_, weight, matched := m.Snippet(all, text)
			if words := len(text) / len(row.part); all.checks < words/stepsPerCheck || weight == 0 || matched == 0 {
				t.Fatalf("got %d checks for %d words, weight %d, matched %b; want at least %d checks and a match", all.checks, words, weight,
					matched, words/stepsPerCheck)
			}
			for _, limit := range []int{0, all.checks / 2, all.checks - 1} {
				e := &endingContext{Context: t.Context(), limit: limit}
				pieces, weight, matched := m.Snippet(e, text)
				if weight != 0 || matched != 0 || strings.Contains(formatPieces(pieces), "{") || e.checks != limit+1 {
					t.Errorf("limit of %d checks: %d checks, weight %d, words %b, %s, want no matches", limit, e.checks, weight, matched,
						formatPieces(pieces))
				}
			}
		})
	}
}

// A word that is repeated in a query is compared with each word of a text only once.
func TestRepeatedWordsAreMatchedOnce(t *testing.T) {
	t.Parallel()
	once, often := NewHighlighter("deed").Fuzzy(), NewHighlighter(strings.Repeat("deed ", 30)+"deed").Fuzzy()
	for name, lists := range map[string][2][]int{
		"fuzzy words":    {once.fuzzyWords, often.fuzzyWords},
		"fuzzy prefixes": {once.fuzzyPrefixes, often.fuzzyPrefixes},
		"prefixes":       {once.prefixes, often.prefixes},
	} {
		t.Run(name, func(t *testing.T) {
			if len(lists[0]) != 1 || len(lists[1]) != 1 {
				t.Errorf("%s: %d for one word, %d for 31 equal words, want 1", name, len(lists[0]), len(lists[1]))
			}
		})
	}
	if got := formatPieces(often.Highlight("a deed, a dead, deeds")); got != "a {deed}, a {dead}, {deeds}" {
		t.Errorf("Highlight = %s, want a {deed}, a {dead}, {deeds}", got)
	}
}
