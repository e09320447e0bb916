package query

import "testing"

func TestMatchedWords(t *testing.T) {
	for _, row := range []struct {
		name, query, text string
		required, matched WordSet
	}{
		{"all", "lot 14 square 3 ", "Lot 14, Square 3", 0b1111, 0b1111},
		{"some", "lot 14 square 3 ", "2026-03-14", 0b1111, 0b1010},
		{"a small word too", "lot of record ", "a lot of record", 0b111, 0b111},
		{"a letter alone", "jonathan q ", "Plat Q", 0b11, 0b10},
		{"a prefix", "deed tru", "trust", 0b11, 0b10},
		{"a phrase is one", `smith "deed of trust"`, "deed of trust", 0b11, 0b10},
		{"half a phrase is none", `smith "deed of trust"`, "deed of gift", 0b11, 0},
		{"a number with blanks", "12 3 045 smith ", "12-3-045", 0b1111, 0b111},
		{"book and page", "bk 1022 pg 311 ", "1022/311", 0b1111, 0b1111},
		{"a label may be missing", "order no. 2026-0117 ", "2026-0117", 0b100, 0b100},
		{"a county", "Wexcombe County ", "Wexcombe", 0b01, 0b01},
		{"joined", "le blanc jean ", "Leblanc", 0b111, 0b011},
		{"a state", "covington louisiana ", "LA", 0b11, 0b10},
		{"no typing error", "smiht jones ", "Smith", 0b11, 0},
		{"an invalid query", "a", "a", 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := NewHighlighter(row.query)
			if required, matched := m.RequiredWords(), m.MatchedWords(t.Context(), row.text); required != row.required || matched != row.matched {
				t.Errorf("query %q requires %b, and text %q matches %b, want %b and %b",
					row.query, required, row.text, matched, row.required, row.matched)
			}
		})
	}
	m := NewHighlighter("smiht jones ").Fuzzy()
	if matched := m.MatchedWords(t.Context(), "Smith"); matched != 1 || matched.Count() != 1 || m.RequiredWords().Count() != 2 {
		t.Errorf("MatchedWords with a typing error = %b of %b, want 1", matched, m.RequiredWords())
	}
}
