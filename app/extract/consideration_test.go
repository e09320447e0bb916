package extract_test

import (
	"strings"
	"testing"

	"deedkeep/app/extract"
)

// A deed states the amount that was paid, says something else about it, or both.
func TestConsideration(t *testing.T) {
	for _, c := range []struct{ name, text, amount, says string }{
		{"nominal", "for the sum of Ten Dollars ($10.00) and other good and valuable consideration, paid", "10.00",
			"Ten Dollars ($10.00) and other good and valuable consideration"},
		{"figures paid", "for $185,000.00 paid, grant", "185000.00", ""},
		{"words", "in consideration of the sum of ONE HUNDRED EIGHTY-FIVE THOUSAND AND NO/100 DOLLARS, paid", "185000.00", ""},
		{"words and figures", "for and in consideration of ONE HUNDRED EIGHTY-FIVE THOUSAND AND 00/100 DOLLARS ($185,000.00) to them paid",
			"185000.00", ""},
		{"received of", "for the consideration of One Hundred Eighty-Five Thousand Dollars ($185,000.00) received to their full satisfaction of",
			"185000.00", ""},
		{"in hand", "for the sum of $185,000.00 in hand paid", "185000.00", ""},
		{"ten and more", "for TEN DOLLARS and other good and valuable considerations", "10.00",
			"TEN DOLLARS and other good and valuable considerations"},
		{"receipt", "for Ten and No/100 Dollars ($10.00), the receipt of which is acknowledged", "10.00", ""},
		{"price", "for the purchase price of $185,000.00, the receipt of which is acknowledged", "185000.00", ""},
		{"no amount", "for valuable consideration paid, grant", "", "valuable consideration"},
		{"love", "for love and affection, grant", "", "love and affection"},
		{"beside the price", "for ten dollars and other valuable consideration, the full consideration being $185,000.00", "185000.00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "KNOW ALL MEN BY THESE PRESENTS that JOHN A. DOE, " + c.text + ", to MARY ROE the following premises:\n"
			for what, text := range map[string]string{"one line": text, "wrapped": wrap(text, 60)} {
				fields := readText("WARRANTY DEED\n\n" + text)
				if got := fields[extract.Consideration].Value(); got != c.amount {
					t.Errorf("%s: consideration is %q, want %q", what, got, c.amount)
				}
				if got := fields[extract.ConsiderationText].Value(); got != c.says {
					t.Errorf("%s: it says %q, want %q", what, strings.TrimSpace(got), c.says)
				}
			}
		})
	}
}
