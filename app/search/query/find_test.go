package query

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, typed, text string
		want              string // expected matches, separated by vertical bars
	}{
		{"plain", "deed", "A deed in a Deed box", "deed|Deed"},
		{"part of a word", "gage", "Mortgagee", "gage"},
		{"punctuation", "$1,000.00 ", "for $1,000.00", "$1,000.00"},
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
		{"letters that Unicode does not decompose", "sorensen strasse", "Sørensen Straße", "Sørensen Straße"},
		{"symbols", "no 5...", "№ 5…", "№ 5…"},
		{"fractions", "1/2", "S½", "½"},
		{"twice in one ligature", "f", "ﬀ f", "ﬀ|f"},
		{"soft hyphens", "easement", "ease\u00adment", "ease\u00adment"},
		{"no overlaps", "aa", "aaaaa", "aa|aa"},
		{"not there", "lien", "deed", ""},
		{"nothing typed", "  ", "deed", ""},
		{"a zero between words", "a b", "a\x00b", "a\x00b"},
		{"longer than the text", "deeds", "deed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := find(t, c.typed, false, c.text); got != c.want {
				t.Errorf("Find = %q, want %q", got, c.want)
			}
		})
	}
	if got, _ := NewFinder("a", false).Find(t.Context(), "aaaa", 3); len(got) != 3 {
		t.Errorf("Find of at most 3 = %d matches, want 3", len(got))
	}
}

// find returns the first matches, separated by vertical bars.
func find(t *testing.T, typed string, words bool, text string) string {
	t.Helper()
	var found []string
	spans, _ := NewFinder(typed, words).Find(t.Context(), text, 10)
	for _, s := range spans {
		found = append(found, text[s.Start:s.End])
	}
	return strings.Join(found, "|")
}

func TestFindWords(t *testing.T) {
	for _, c := range []struct {
		name, typed, text string
		want              string // expected matches, separated by vertical bars
		all               bool
	}{
		{"each word", "smith jones", "Jones and SMITH, Smithson, Jonesboro", "Jones|SMITH", true},
		{"prefix", "smith jones", "SMITH, Smithson, Jonesboro", "SMITH|Jonesboro", true},
		{"complete words except the last", "ann lot", "Annual Ann lots", "Ann lots", true},
		{"adjacent words are one match", "dana birch", "DANA BIRCH and Birch, Dana", "DANA BIRCH|Birch, Dana", true},
		{"a phrase", `"warranty deed" x`, "a deed, Warranty\nDeed", "Warranty\nDeed", false},
		{"a parcel ID in several groupings", "12-3-045", "123045 12.3.045 12-3-0456 112-3-045 12-30-45",
			"123045 12.3.045 12-3-0456|12-30-45", true},
		{"a parcel ID without separators", "123045 x", "Parcel 12-3-045, 12 3 045", "12-3-045, 12 3 045", false},
		{"book and page", "Bk 1022 Pg 311", "Bk1022-Pg311; Bk. 1022, Pg. 311; Bk 1023 Pg 311", "Bk1022-Pg311; Bk. 1022, Pg. 311; Bk|Pg 311", true},
		{"book and page in one word", "Bk1022-Pg311", "Bk 1022 Pg 311 and Bk1022Pg311", "Bk 1022 Pg 311|Bk1022Pg311", true},
		{"book and page in words", "Bk 1022 Pg 311", "in Book 1022, at Page 311", "Book 1022|Page 311", true},
		{"apostrophes", "oneil o'brien", "O’Neil met OBrien", "O’Neil|OBrien", true},
		{"accents", "ibáñez", "IBANEZ Iba\u0301n\u0303ez", "IBANEZ Iba\u0301n\u0303ez", true},
		{"a word split at the end of a line", "holdings", "HOLD-\nINGS", "HOLD-\nINGS", true},
		{"a hyphen in a name", "smith-jones", "Smith-Jones, Smith Jones, SmithJones", "Smith-Jones, Smith Jones, SmithJones", true},
		{"words like of are not required", "estate of john", "John's Estate", "John's Estate", true},
		{"only such words", "of the", "The end of it", "The|of", true},
		{"date", "3/14/2026", "the 14th day of March, 2026", "14th day of March, 2026", true},
		{"not there", "lien tax", "deed", "", false},
		{"ligatures", "final", "ﬁnal", "ﬁnal", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := find(t, c.typed, true, c.text); got != c.want {
				t.Errorf("Find = %q, want %q", got, c.want)
			}
			f := NewFinder(c.typed, true)
			if _, matched := f.Find(t.Context(), c.text, 1); f.HasAll(matched) != c.all {
				t.Errorf("HasAll = %t, want %t", f.HasAll(matched), c.all)
			}
		})
	}
	if got, _ := NewFinder("ab", true).Find(t.Context(), "ab c ab c ab c ab", 3); len(got) != 3 {
		t.Errorf("Find of at most 3 = %d matches, want 3", len(got))
	}
	for _, typed := range []string{"", " ", "-", "a"} {
		if !NewFinder(typed, true).Empty() {
			t.Errorf("Empty of %q = false, want true", typed)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("hold-\nings", "ORCHARD HOLD-\nINGS")
	f.Add("ﬁ", "fi")
	f.Add("-", "--\n-")
	f.Add(`"hold" in 12-3-045`, "HOLD-\nINGS 123045")
	f.Add(`o'neil "of the" ﬁ`, "O’NEIL, of the\x00ﬁ\xff")
	f.Fuzz(func(t *testing.T, typed, text string) {
		for _, words := range []bool{false, true} {
			end := 0
			spans, _ := NewFinder(typed, words).Find(t.Context(), text, 100)
			for _, s := range spans {
				if s.Start < end || s.End <= s.Start || s.End > len(text) {
					t.Fatalf("got match %+v after %d, want ascending matches within the %d bytes of text", s, end, len(text))
				}
				end = s.End
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	page := strings.Repeat(deedText, 20_000/len(deedText)+1)[:20_000]
	for _, typed := range []string{"land records", "a b c d e f g h i j k l m n o p"} {
		for name, words := range map[string]bool{"typed": false, "words": true} {
			b.Run(name+" "+typed, func(b *testing.B) {
				b.SetBytes(int64(len(page)))
				for b.Loop() {
					NewFinder(typed, words).Find(b.Context(), page, 1000)
				}
			})
		}
	}
}
