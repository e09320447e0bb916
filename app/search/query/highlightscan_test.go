package query

import (
	"context"
	"strings"
	"testing"
)

// ended is a context that has ended when it was looked at so often.
type ended struct {
	context.Context
	looks, most int
}

func (e *ended) Err() error {
	if e.looks++; e.looks > e.most {
		return context.DeadlineExceeded
	}
	return nil
}

// However much there is to be compared on a page, to mark it ends with its context, and
// then it is as if nothing stood there.
func TestMarkingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var erring strings.Builder
	for c := 'a'; c <= 'z'; c++ {
		erring.WriteString("grant" + string(c) + "r ")
	}
	for _, row := range []struct{ name, query, part string }{
		{"words with typing errors", erring.String(), "grantor and grantee of the parish "},
		{"the same with each other", erring.String(), "mortgages "},
		{"one word", "deed ", "deed "},
		{"a phrase", `"` + strings.Repeat("aa ", 16) + `"`, "aa "},
		{"numbers", strings.Repeat("12-3-045 ", 8) + "12", "12 3 045 "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := NewHighlighter(row.query).Fuzzy()
			text := "grantor 12-3-045 deed " + strings.Repeat(row.part, (256<<10)/len(row.part))
			all := &ended{Context: t.Context(), most: 1 << 30}
			_, worth := m.Snippet(all, text)
			held := m.MatchedWords(t.Context(), text)
			if words := len(text) / len(row.part); all.looks < words/stepsPerCheck || worth == 0 || held == 0 {
				t.Fatalf("it is looked at %d times for %d words; worth %d, held %b", all.looks, words, worth, held)
			}
			for _, most := range []int{0, all.looks / 2, all.looks - 1} {
				e := &ended{Context: t.Context(), most: most}
				pieces, worth := m.Snippet(e, text)
				if worth != 0 || strings.Contains(shown(pieces), "{") || e.looks != most+1 {
					t.Errorf("with %d looks: %d looks, worth %d, %s", most, e.looks, worth, shown(pieces))
				}
				if held := m.MatchedWords(&ended{Context: t.Context(), most: most}, text); held != 0 {
					t.Errorf("with %d looks %b is held", most, held)
				}
			}
		})
	}
}

// However often a word is typed, words of the text are compared with it once.
func TestEqualWordsAreLookedForOnce(t *testing.T) {
	t.Parallel()
	once, often := NewHighlighter("deed").Fuzzy(), NewHighlighter(strings.Repeat("deed ", 30)+"deed").Fuzzy()
	for name, ways := range map[string][2][]int{
		"erring": {once.fuzzyWords, often.fuzzyWords}, "erring beginnings": {once.fuzzyPrefixes, often.fuzzyPrefixes}, "beginnings": {once.prefixes, often.prefixes},
	} {
		if len(ways[0]) != 1 || len(ways[1]) != 1 {
			t.Errorf("%s: %d of one word, %d of 31 equal ones", name, len(ways[0]), len(ways[1]))
		}
	}
	if got := shown(often.Highlight("a deed, a dead, deeds")); got != "a {deed}, a {dead}, {deeds}" {
		t.Error(got)
	}
}
