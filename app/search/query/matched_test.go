package query

import "testing"

func TestMatchedWords(t *testing.T) {
	for _, row := range []struct {
		name, query, text string
		required, matched WordSet
	}{
		{"all words", "lot 14 square 3 ", "Lot 14, Square 3", 0b1111, 0b1111},
		{"some words", "lot 14 square 3 ", "2026-03-14", 0b1111, 0b1010},
		{"stop word", "lot of record ", "a lot of record", 0b111, 0b111},
		{"single letter", "jonathan q ", "Plat Q", 0b11, 0b10},
		{"prefix", "deed tru", "trust", 0b11, 0b10},
		{"phrase counts as one word", `smith "deed of trust"`, "deed of trust", 0b11, 0b10},
		{"incomplete phrase", `smith "deed of trust"`, "deed of gift", 0b11, 0},
		{"number with blanks", "12 3 045 smith ", "12-3-045", 0b1111, 0b111},
		{"book and page", "bk 1022 pg 311 ", "1022/311", 0b1111, 0b1111},
		{"label is optional", "order no. 2026-0117 ", "2026-0117", 0b100, 0b100},
		{"county", "Wexcombe County ", "Wexcombe", 0b01, 0b01},
		{"joined name", "le blanc jean ", "Leblanc", 0b111, 0b011},
		{"state", "covington louisiana ", "LA", 0b11, 0b10},
		{"misspelled word", "smiht jones ", "Smith", 0b11, 0},
		{"invalid query", "a", "a", 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := NewHighlighter(row.query)
			if required, matched := m.RequiredWords(), m.scan(t.Context(), row.text).matchedWords(); required != row.required || matched != row.matched {
				t.Errorf("query %q requires %b, and text %q matches %b, want %b and %b",
					row.query, required, row.text, matched, row.required, row.matched)
			}
		})
	}
	m := NewHighlighter("smiht jones ").Fuzzy()
	if matched := m.scan(t.Context(), "Smith").matchedWords(); matched != 1 || matched.Count() != 1 || m.RequiredWords().Count() != 2 {
		t.Errorf("matchedWords with a typo = %b of %b, want 1", matched, m.RequiredWords())
	}
}
