package phrase

import (
	"strings"
	"testing"
)

func TestPhrase(t *testing.T) {
	for _, c := range []struct {
		name, typed, text string
		want              string // expected matches, separated by vertical bars
	}{
		{"plain", "deed", "A deed in a Deed box", "deed|Deed"},
		{"across lines", "warranty deed", "GENERAL WARRANTY\r\n  DEED", "WARRANTY\r\n  DEED"},
		{"white space in the query", "  warranty \t deed ", "warranty deed", "warranty deed"},
		{"non-breaking spaces", "book 12", "Book\u00a012", "Book\u00a012"},
		{"a word split at the end of a line", "holdings", "ORCHARD HOLD-\nINGS LLC", "HOLD-\nINGS"},
		{"a name with a hyphen at the end of a line", "Marchbanks-Ibanez", "Marchbanks-\nIbáñez", "Marchbanks-\nIbáñez"},
		{"the same without a hyphen in the query", "MarchbanksIbáñez", "Marchbanks-\nIbáñez", "Marchbanks-\nIbáñez"},
		{"a hyphen between spaces", "Smith - Jones", "Smith -\nJones", "Smith -\nJones"},
		{"accents", "ibáñez", "IBANEZ and Ibáñez", "IBANEZ|Ibáñez"},
		{"combining accents", "ibanez", "Iba\u0301n\u0303ez", "Iba\u0301n\u0303ez"},
		{"quotes and dashes", `the "lot" o'brien 12-14`, "the “Lot” O’Brien 12–14", "the “Lot” O’Brien 12–14"},
		{"ligatures", "final", "ﬁnal ﬁnding", "ﬁnal"},
		{"twice in one ligature", "f", "ﬀ f", "ﬀ|f"},
		{"soft hyphens", "easement", "ease\u00adment", "ease\u00adment"},
		{"no overlaps", "aa", "aaaaa", "aa|aa"},
		{"not there", "lien", "deed", ""},
		{"nothing typed", "  ", "deed", ""},
		{"a zero between words", "a b", "a\x00b", "a\x00b"},
		{"longer than the text", "deeds", "deed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := []rune(c.text)
			var found []string
			for _, s := range New(c.typed).Find(text, 10) {
				found = append(found, string(text[s.Start:s.End]))
			}
			if got := strings.Join(found, "|"); got != c.want {
				t.Errorf("Find = %q, want %q", got, c.want)
			}
		})
	}
	if got := New("a").Find([]rune("aaaa"), 3); len(got) != 3 {
		t.Errorf("Find of at most 3 = %d matches, want 3", len(got))
	}
}

func FuzzPhrase(f *testing.F) {
	f.Add("hold-\nings", "ORCHARD HOLD-\nINGS")
	f.Add("ﬁ", "fi")
	f.Add("-", "--\n-")
	f.Add(`"hold" "in"* "12-3-045"`, "HOLD-\nINGS 123045")
	f.Add(strings.Join(Split(`o'neil "of the" ﬁ`), " "), "O’NEIL, of the\x00ﬁ")
	f.Fuzz(func(t *testing.T, typed, body string) {
		text := []rune(body)
		end := 0
		for _, s := range New(typed).Find(text, 100) {
			if s.Start < end || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("got match %+v after %d, want ascending matches within the %d bytes of text", s, end, len(text))
			}
			end = s.End
		}
	})
}
