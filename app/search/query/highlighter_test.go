package query

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// formatPieces returns the text of the pieces with marked pieces in braces.
func formatPieces(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Marked {
			b.WriteString("{" + p.Text + "}")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestHighlight(t *testing.T) {
	for _, row := range []struct{ name, query, text, want string }{
		{"word", "deed ", "The Deed, indeed.", "The {Deed}, indeed."},
		{"prefix", "mort", "Mortgage of a mort, amortized", "Mortgage of a {mort}, amortized"},
		{"no prefix before a blank", "mort ", "Mortgage of a mort", "Mortgage of a {mort}"},
		{"accents", "pena ", "PEÑA and pen\u0303a", "{PEÑA} and {pen\u0303a}"},
		{"phrase", `"deed of trust"`, "trust: a deed of trust", "trust: a {deed of trust}"},
		{"phrase across lines", `"deed of trust"`, "a deed\nof trust", "a {deed\nof trust}"},
		{"incomplete phrase", `"deed of tru`, "a deed of trust, of deed", "a {deed of trust}, of deed"},
		{"adjacent words", "deed of trust ", "deed of trust of deed", "{deed of trust} of {deed}"},
		{"number without hyphens", "123045 ", "No. 12-3-045, 12 3 045; 123045", "No. {12-3-045}, {12 3 045}; {123045}"},
		{"number with hyphens", "12-3-045 ", "No. 12-3-045, 12 3 045; 123045", "No. {12-3-045}, {12 3 045}; {123045}"},
		{"number with blanks", "12 3 045 ", "No. 12-3-045; 123045", "No. {12-3-045}; {123045}"},
		{"number prefix", "2026-01", "order 2026-0117 of 2026", "order {2026-0117} of 2026"},
		{"number prefix without hyphens", "202601", "order 2026-0117 of 2026", "order {2026-0117} of 2026"},
		{"number prefix across a blank", "202", "20 25 and 2025", "{20 25} and {2025}"},
		{"letters and digits across a blank", "a20", "a 2025, a2025", "{a 2025}, {a2025}"},
		{"letters and digits", "t24-1093a", "No T24.1093-A", "No {T24.1093-A}"},
		{"book and page", "Bk 1022 Pg 311 ", "in Book 1022, Page 311 among", "in {Book 1022, Page 311} among"},
		{"book and page as a fraction", "1022/311", "in Book 1022, Page 311 among", "in Book {1022, Page 311} among"},
		{"file name", "bk1022-pg311", "02_Deed_Bk1022-Pg311_Smith.pdf", "02_Deed_{Bk1022-Pg311}_Smith.pdf"},
		{"word in a file name", "smith", "02_Deed_Bk1022-Pg311_Smith-to-Jones.pdf", "02_Deed_Bk1022-Pg311_{Smith}-to-Jones.pdf"},
		{"O'Brien", "obrien ", "O'Brien, O’BRIEN and O Brien", "{O'Brien}, {O’BRIEN} and {O Brien}"},
		{"possessive", "smith ", "Smith's, smiths", "{Smith's}, smiths"},
		{"hyphen at the end of a line", "conveyance ", "convey-\nance", "{convey-\nance}"},
		{"single letter", "jonathan q ", "Q is q, and Jonathan Q Public", "Q is q, and {Jonathan Q} Public"},
		{"complete word, not as a prefix", "Harlow PA", "Patrick Harlow, Page 3, PA", "Patrick {Harlow}, Page 3, {PA}"},
		{"stop words with other words", "point and place of beginning ", "place of the beginning of and", "{place} of the {beginning} of and"},
		{"stop words only", "of the ", "one of these", "one {of} these"},
		{"leading zeros", "2417/883", "Book 2417, Page 0883 and 883", "Book {2417, Page 0883} and 883"},
		{"leading zeros in book and page", "bk 2417 pg 883", "Bk 2417 Pg 0883", "{Bk 2417 Pg 0883}"},
		{"leading zeros in a parcel ID", "12-3-45", "No. 12-3-045", "No. {12-3-045}"},
		{"misspelled word in the text", "smith ", "smyth", "smyth"},
		{"invalid query", "a", "a b", "a b"},
		{"leading zeros in the query", "0417 ", "TT-2019-0417 and 417", "TT-2019-{0417} and 417"},
		{"leading zeros in the text only", "417 ", "TT-2019-0417 and 417", "TT-2019-{0417} and {417}"},
		{"leading zeros of a page in the query", "page 0883 ", "Page 883 and 884", "{Page 883} and 884"},
		{"leading zeros of book and page in the query", "2417/0883 ", "Bk 2417 Pg 883", "Bk {2417 Pg 883}"},
		{"leading zeros of a parcel ID in the query", "12-3-045 ", "12-3-45 and 123045", "{12-3-45} and {123045}"},
		{"adjacent letters", "T&S ", "T or S, and T&S; T & S", "T or S, and {T&S}; {T & S}"},
		{"\"and\" between letters", "t & s ", "T&S or T and S", "{T&S} or {T and S}"},
		{"letter and digit", "a 1 ", "a, 11, A-1", "a, 11, {A-1}"},
		{"label and digit", "no 5", "5 and 51", "{5} and 51"},
		{"parts of an incomplete name", "smith-jon", "Jones of Smith", "{Jones} of {Smith}"},
		{"letters with a hyphen", "mapa", "MAP-A", "{MAP-A}"},
		{"date in words", "3/14/2026", "of March 14, 2026 or 15", "of {March 14, 2026} or 15"},
		{"date in digits", "Mar 14, 2026 ", "due 2026-03-14, 03-14-2026", "due {2026-03-14}, {03-14-2026}"},
		{"date with words between", "3-14-2026", "this 14th day of March, 2026", "this {14th day of March, 2026}"},
		{"date without punctuation", "14 March 2026", "20260314_Deed.pdf", "{20260314}_Deed.pdf"},
		{"date in quotes", `"3/14/2026"`, "2026-03-14, 3/14/2026", "2026-03-14, {3/14/2026}"},
		{"fraction", "sw 1/4 ", "S½ of SW¼ of 15", "S½ of {SW¼} of 15"},
		{"half", "s1/2", "S½ of SW¼", "{S½} of SW¼"},
		{"half is separate from the number", "12 ", "5½ acres of 12", "5½ acres of {12}"},
		{"initials with slashes", "aka ", "Bo a/k/a Jo", "Bo {a/k/a} Jo"},
		{"initials with blanks", "jp morgan ", "J. P. Morgan", "{J. P}. {Morgan}"},
		{"hyphen", "alhakim ", "of al-Hakim", "of {al-Hakim}"},
		{"name across lines", "leblanc ", "Jean Le\nBlanc", "Jean {Le\nBlanc}"},
		{"okina", "hawaii ", "Hawaiʻi", "{Hawaiʻi}"},
		{"markup is text", "ad b ", "<b>ad</b>", "<{b}>{ad</b}>"},
		{"empty text", "deed", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := formatPieces(NewHighlighter(row.query).Highlight(row.text)); got != row.want {
				t.Errorf("Highlight for %q:\n got %s\nwant %s", row.query, got, row.want)
			}
		})
	}
}

func TestFuzzyHighlight(t *testing.T) {
	for _, row := range []struct{ name, query, text, want string }{
		{"replaced letter", "smith ", "smith smyth smythe", "{smith} {smyth} smythe"},
		{"missing, extra, and swapped letters", "jones", "jone joness jonse joens jnoes", "{jone} {joness} {jonse} {joens} {jnoes}"},
		{"two errors", "jones ", "jane janse", "jane janse"},
		{"accents don't count as errors", "peña ", "pena penas pines", "{pena} {penas} pines"},
		{"not in numbers", "1234 ", "1235 1234", "1235 {1234}"},
		{"not in quotes", `"smith"`, "smyth", "smyth"},
		{"missing letter in a word of four", "jon smith ", "John Son of Smith", "{John} Son of {Smith}"},
		{"prefix", "yarret", "Yarett, Yarretts, yard", "Yarett, {Yarretts}, yard"},
		{"prefix with a missing letter", "yarret", "Yarett, yazzett, yard", "{Yarett}, yazzett, yard"},
		{"prefix with swapped letters", "thornqiu", "Thornquist", "{Thornquist}"},
		{"prefix of four letters", "john", "Jolnold", "{Jolnold}"},
		{"no prefix before a blank", "thornqiu ", "Thornquist", "Thornquist"},
		{"hyphenated name", "smith-jnoes ", "smith-jones", "{smith}-{jones}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := formatPieces(NewHighlighter(row.query).Fuzzy().Highlight(row.text)); got != row.want {
				t.Errorf("Highlight for %q:\n got %s\nwant %s", row.query, got, row.want)
			}
		})
	}
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("whereas the parties hereto have agreed ", 30)
	for _, row := range []struct {
		name, query, text string
		has, hasNot       string
	}{
		{"complete short text", "deed", " the deed ", "the {deed}", "\n"},
		{"far from the start", "trust ", filler + "a deed of trust was made " + filler, "of {trust} was", "\n"},
		{"place with more of the words", "deed trust ", "deed one. " + filler + "a deed, a trust. " + filler, "a {deed}, a {trust}", "one"},
		{"complete phrase rather than its words", "deed of trust ",
			"trust of a deed " + filler + "a deed of trust " + filler, "{deed of trust}", "\n"},
		{"first of equal places", "deed ", filler + "first deed " + filler + "second deed " + filler, "first {deed}", "second"},
		{"no match", "zebra ", "begin here " + filler, "begin here whereas", "{"},
		{"match at the end", "zebra", filler + "the zebra.", "the {zebra}.", "\n"},
		{"consecutive blanks count once", "deed ",
			strings.Repeat("a          b ", 100) + " the deed " + strings.Repeat("c          d ", 100),
			" a          b  the {deed} c          d ", "\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			pieces, weight, _ := NewHighlighter(row.query).Snippet(t.Context(), row.text)
			got := formatPieces(pieces)
			if !strings.Contains(got, row.has) || strings.Contains(got, row.hasNot) {
				t.Errorf("snippet for %q = %q, want it to contain %q and not %q", row.query, got, row.has, row.hasNot)
			}
			if (weight > 0) != strings.Contains(got, "{") {
				t.Errorf("weight of %q = %d, want more than 0 only with a match", got, weight)
			}
			checkWindow(t, row.text, pieces)
		})
	}
}

func TestSnippetWeight(t *testing.T) {
	m := NewHighlighter("deed of trust")
	var last int
	for _, text := range []string{"nothing", "a trustee", "of trust", "a trust, and of a deed", "a deed of trust"} {
		_, weight, _ := m.Snippet(t.Context(), text)
		if weight <= last && text != "nothing" {
			t.Errorf("weight of %q = %d, want more than %d", text, weight, last)
		}
		last = weight
	}
}

func TestSnippetEndsBetweenWords(t *testing.T) {
	words := strings.Repeat("conveyance appurtenances ", 100)
	pieces, _, _ := NewHighlighter("deed").Snippet(t.Context(), words+"deed "+words)
	got := joinedPieces(pieces)
	for _, w := range strings.Fields(got) {
		if w != "conveyance" && w != "appurtenances" && w != "deed" {
			t.Errorf("snippet %q contains %q, want complete words", got, w)
		}
	}
	if n := len(got); n < 150 || n > windowWidth {
		t.Errorf("snippet has %d characters, want 150 to %d", n, windowWidth)
	}
}

// joinedPieces returns the concatenated text of the pieces.
func joinedPieces(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// checkWindow checks that the pieces are valid, form a part of the text, and are not too long.
func checkWindow(t *testing.T, text string, pieces []Piece) {
	t.Helper()
	all := joinedPieces(pieces)
	if !strings.Contains(text, all) {
		t.Errorf("snippet = %q, want a part of the text", all)
	}
	if len(all) > 3*maxWindowBytes {
		t.Errorf("snippet has %d bytes, want at most %d", len(all), 3*maxWindowBytes)
	}
	for _, p := range pieces {
		if p.Text == "" || utf8.ValidString(text) && !utf8.ValidString(p.Text) {
			t.Errorf("piece = %q, want nonempty, valid UTF-8", p.Text)
		}
	}
}

func TestHighlighterWithLargeTexts(t *testing.T) {
	for _, row := range []struct{ name, query, part string }{
		{"repeated word", "deed ", "deed "},
		{"repeated phrase", `"a a a a a a a a"`, "a "},
		{"repeated digits", "1111111111", "1-"},
		{"one long word", "deed", "x"},
		{"blanks", "deed", " "},
		{"UTF-8 continuation bytes", "deed", "\x80"},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := strings.Repeat(row.part, (MaxHighlightBytes+1000)/len(row.part))
			m := NewHighlighter(row.query)
			pieces, _, _ := m.Snippet(t.Context(), text)
			checkWindow(t, text, pieces)
		})
	}
}

// FuzzHighlighter checks that, for any query, the concatenated pieces equal the text.
func FuzzHighlighter(f *testing.F) {
	for _, row := range [][2]string{
		{"deed", "The deed of trust"}, {`"deed of tr`, "deed\xff of trust"}, {"12-3-0", "12 3 045 123045"},
		{"o brien's ñ", "O'Brien ñ"}, {"1022/311", "Book 1022, Page 311"}, {"jones 土", "jnoes 土地"},
		{"of 3/14/2026 or Sept 1, 2025", "2026-03-14 March 14th, 2026 1st day of September, 2025"},
	} {
		f.Add(row[0], row[1])
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		m := NewHighlighter(query)
		for _, m := range []*Highlighter{m, m.Fuzzy()} {
			if got := joinedPieces(m.Highlight(text)); got != text {
				t.Errorf("query %q: pieces = %q, want the text %q", query, got, text)
			}
			pieces, _, _ := m.Snippet(t.Context(), text)
			checkWindow(t, text, pieces)
		}
	})
}

func BenchmarkSnippet(b *testing.B) {
	page := strings.Repeat(deedText, 20_000/len(deedText)+1)[:20_000]
	for _, query := range []string{"conveyed grantors", `"land records"`, "of the and"} {
		b.Run(query, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				NewHighlighter(query).Snippet(b.Context(), page)
			}
		})
	}
}
