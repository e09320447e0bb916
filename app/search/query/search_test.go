package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// library returns the documents that most tests use. The newest documents are last.
func library() []Document {
	return []Document{
		{Kind: Abstract, ID: 1, Template: 7, County: "Wexcombe", State: "VA", CreatedDay: 100, Numbers: []string{"2026-0117", "12-3-045"},
			Names: []string{"Smith", "O'Brien"}, Fields: []string{"14 Main Street", "Wexcombe"}},
		{Kind: Abstract, ID: 2, Template: 8, County: "WEXCOMBE", State: "VA", CreatedDay: 200, Numbers: []string{"2026-0118", "12-3-0451"},
			Names: []string{"Smithson", "McDonald"}, Fields: []string{"16 Main St", "deed of gift"}},
		{Kind: Abstract, ID: 3, Template: 7, County: "Prince George's", State: "MD", CreatedDay: 300, Numbers: []string{"A-9", "123045"},
			Names: []string{"Peña"}, Fields: []string{"Smith's farm"}},
		{Kind: Order, ID: 1, County: "Wexcombe", State: "VA", Status: "Open", CreatedDay: 150, Numbers: []string{"2026-0117"},
			Names: []string{"Jones"}, Fields: []string{"rush"}},
		{Kind: Order, ID: 2, County: "Harlan", State: "KY", Status: "Closed", CreatedDay: 250, Numbers: []string{"ORD/2025/77"},
			Names: []string{"Johnson & Sons LLC"}},
		{Kind: File, ID: 1, CreatedDay: 100, Names: []string{"02_Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf"},
			Text: pages("by deed recorded in Book 1022, Page 311 among the land records of Wexcombe", "the deed of trust made by Smith")},
		{Kind: File, ID: 2, CreatedDay: 200, Names: []string{"scan0002.pdf"},
			Text: pages("a release of the deed", "of trust of Smyth and others, parcel 12-3-045, mortgage mortgage mortgage")},
		{Kind: File, ID: 3, CreatedDay: 300, Names: []string{"mortgage.pdf"},
			Text: pages("Know all men. Conveyance of 12 3 045 to the said Jonathan Q Public; convey-\nance again; a fee of 2026.")},
		{Kind: File, ID: 4, CreatedDay: 400, Numbers: []string{"Bk 88 Pg 4"}, Names: []string{"plat.tif"},
			Text: pages("Q Z Jonathan conveyed; trust in the deed of Smith to the mortgagee")},
	}
}

// pages returns a Document.Text function that passes the given pages.
func pages(texts ...string) func(func(string) error) error {
	return func(page func(string) error) error {
		for _, s := range texts {
			if err := page(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// newNaiveEngine returns a naiveEngine that contains the documents.
func newNaiveEngine(t testing.TB, documents []Document) *naiveEngine {
	t.Helper()
	n := &naiveEngine{t: t}
	b := &Batch{sink: n}
	for _, d := range documents {
		if err := b.Put(d); err != nil {
			t.Fatalf("Put: %v", err)
		}
	}
	return n
}

// formatHits formats hits as "a1 o2 f3".
func formatHits(a Result) string {
	var s []string
	for _, h := range a.Hits {
		s = append(s, fmt.Sprintf("%c%d", h.Kind[0], h.ID))
	}
	return strings.Join(s, " ")
}

// searches are the queries that tests run on the library, with the expected hits.
var searches = []struct {
	name  string
	query Query
	want  string // expected hits in order; hits in brackets may be in any order
	fuzzy bool
}{
	{"file number", Query{Text: "2026-0117"}, "[a1 o1]", false},
	{"number prefix, newest first", Query{Text: "2026-01"}, "[a2 a1 o1]", false},
	{"prefix of two characters", Query{Text: "20"}, "[a2 a1 o1] [f1 o2]", false},
	{"prefix of three characters", Query{Text: "202"}, "[a2 a1 o1] o2", false},
	{"prefix with a hyphen at the end", Query{Text: "2026-"}, "[a2 a1 o1] f3", false},
	{"last part of a number", Query{Text: "0117"}, "[a1 o1]", false},
	{"parcel ID with hyphens", Query{Text: "12-3-045 "}, "[a3 a1] [f2 f3]", false},
	{"parcel ID without punctuation", Query{Text: "123045 "}, "[a3 a1] [f2 f3]", false},
	{"parcel ID with blanks", Query{Text: "12 3 045 "}, "[a3 a1] [f2 f3]", false},
	{"exact number before prefixes", Query{Text: "123045"}, "[a3 a1] a2 [f3 f2]", false},
	{"slashes", Query{Text: "ord 2025 77"}, "o2", false},
	{"letter case", Query{Text: "ORD202577"}, "o2", false},
	{"book and page", Query{Text: "Bk 1022 Pg 311"}, "f1", false},
	{"book and page in words", Query{Text: "Book 1022, Page 311 "}, "f1", false},
	{"book and page without blanks", Query{Text: "Bk1022-Pg311"}, "f1", false},
	{"book and page of a number", Query{Text: "88/4"}, "f4", false},
	{"book and page of a number in words", Query{Text: "book 88 page 4"}, "f4", false},
	{"label before a number", Query{Text: "order no. 2026-0117"}, "[a1 o1]", false},
	{"label only", Query{Text: "parcel"}, "f2", false},
	{"liber and folio", Query{Text: "Liber 88 f. 4 "}, "f4", false},
	{"plat book and folio", Query{Text: "plat book 88 folio 4 "}, "f4", false},
	{"number and name", Query{Text: "2026-0117 smith "}, "a1", false},
	{"name, fields before text", Query{Text: "smith "}, "[f1 a3 a1] f4 f2", true},
	{"prefix of names before other fields", Query{Text: "smi"}, "[f1 a2 a1] a3", false},
	{"three letters of a field", Query{Text: "far"}, "a3", false},
	{"two letters of a field", Query{Text: "gi"}, "a2", false},
	{"three letters of the text", Query{Text: "con"}, "", false},
	{"prefix in the text", Query{Text: "convey"}, "[f3 f4]", false},
	{"accents", Query{Text: "pena "}, "a3", false},
	{"accents in the query", Query{Text: "PEÑA "}, "a3", false},
	{"apostrophe", Query{Text: "o'brien "}, "a1", false},
	{"without the apostrophe", Query{Text: "obrien "}, "a1", false},
	{"blank instead of the apostrophe", Query{Text: "o brien "}, "a1", false},
	{"Mc with a blank", Query{Text: "mc donald "}, "a2", false},
	{"possessive", Query{Text: "smith's farm "}, "a3", false},
	{"initials", Query{Text: "johnson l.l.c. "}, "o2", false},
	{"and", Query{Text: "johnson and sons "}, "o2", false},
	{"abbreviation of street", Query{Text: "main street "}, "[a2 a1]", false},
	{"all words are required", Query{Text: "deed gift "}, "a2", false},
	{"words of fields and of text", Query{Text: "mortgage conveyance "}, "f3", false},
	{"phrase", Query{Text: `"deed of trust"`}, "f1", false},
	{"phrase of a field", Query{Text: `"deed of gift"`}, "a2", false},
	{"open phrase", Query{Text: `"deed of tr`}, "f1", false},
	{"open phrase with a longer prefix", Query{Text: `"deed of trus`}, "f1", false},
	{"phrase with a single letter", Query{Text: `"jonathan q public"`}, "f3", false},
	{"single letter", Query{Text: "jonathan q "}, "[f3 f4]", false},
	{"single letter as a prefix", Query{Text: "main s"}, "[a2 a1]", false},
	{"adjacent words", Query{Text: "jonathan conveyed "}, "f4", false},
	{"hyphen at the end of a line", Query{Text: "conveyance "}, "f3", false},
	{"replaced letter", Query{Text: "smyth "}, "f2 [f1 a1 a3] f4", true},
	{"missing letter", Query{Text: "jonatan "}, "[f3 f4]", true},
	{"swapped letters", Query{Text: "mortgaeg "}, "[f3] f2", true},
	{"extra letter", Query{Text: "mcddonald "}, "a2", true},
	{"misspelled prefix", Query{Text: "smtihs"}, "a3 a2", true},
	{"misspelled number", Query{Text: "2026-0119 "}, "", false},
	{"misspelled phrase", Query{Text: `"jonatan"`}, "", false},
	{"type", Query{Text: "2026", Kind: Order}, "o1", false},
	{"template", Query{Text: "smith ", Template: 7}, "[a3 a1]", false},
	{"county, letter case", Query{Text: "smi", County: "wexCombe"}, "[a2 a1]", false},
	{"county with an apostrophe", Query{Text: "smith ", County: "prince george's"}, "a3", false},
	{"state", Query{Text: "2026", State: "va"}, "[a2 a1 o1]", false},
	{"status", Query{Text: "2026", Status: "OPEN"}, "o1", false},
	{"unknown status", Query{Text: "2026", Status: "-"}, "", false},
	{"date range", Query{Text: "2026-", CreatedFrom: onDay(150), CreatedTo: onDay(200)}, "[a2 o1]", false},
	{"all filters", Query{
		Text: "2026", Template: 7, County: "Wexcombe", State: "VA", Kind: Abstract, CreatedTo: onDay(100),
	}, "a1", false},
	{"no hits", Query{Text: "zebra"}, "", false},
}

// onDay returns a time on a day that has the given number.
func onDay(number int64) time.Time { return time.Unix(number*86400+1000, 0) }

func TestDay(t *testing.T) {
	for text, want := range map[string]int32{
		"1970-01-01T00:00:00Z": 0, "1969-12-31T23:59:59Z": -1, "1969-12-31T00:00:00Z": -1, "1969-12-30T12:00:00Z": -2, "2026-05-29T12:00:00Z": 20602,
	} {
		at, err := time.Parse(time.RFC3339, text)
		if got := Day(at); err != nil || got != want {
			t.Errorf("Day(%s) = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestSearch(t *testing.T) {
	n := newNaiveEngine(t, library())
	for _, row := range searches {
		t.Run(row.name, func(t *testing.T) {
			row.query.Limit = 20
			a, err := search(context.Background(), n, Options{}.withDefaults(), row.query)
			if err != nil {
				t.Fatalf("search: %v", err)
			}
			if got := formatHits(a); !sameOrder(got, row.want) || a.Fuzzy != row.fuzzy {
				t.Errorf("search(%q) = %s (fuzzy: %t), want %s", row.query.Text, got, a.Fuzzy, row.want)
			}
		})
	}
}

// sameOrder reports whether the hits are in the wanted order. Hits in brackets may be in any order.
func sameOrder(got, want string) bool {
	hits := strings.Fields(got)
	for want != "" {
		var part string
		if strings.HasPrefix(want, "[") {
			part, want, _ = strings.Cut(want[1:], "]")
		} else {
			part, want, _ = strings.Cut(want, " ")
		}
		want = strings.TrimSpace(want)
		wanted := strings.Fields(part)
		if len(hits) < len(wanted) {
			return false
		}
		group := slices.Clone(hits[:len(wanted)])
		slices.Sort(group)
		slices.Sort(wanted)
		if !slices.Equal(group, wanted) {
			return false
		}
		hits = hits[len(wanted):]
	}
	return len(hits) == 0
}

func TestSearchRejectsInvalidQueries(t *testing.T) {
	n := newNaiveEngine(t, library())
	for _, row := range []struct {
		name  string
		query Query
		want  error
	}{
		{"empty", Query{}, ErrShort},
		{"single letter", Query{Text: "a", Limit: 5}, ErrShort},
		{"punctuation", Query{Text: ` "--" .'`, Limit: 5}, ErrShort},
		{"letter and punctuation", Query{Text: "-a-", Limit: 5}, ErrShort},
		{"too many words", Query{Text: strings.Repeat("ab ", 33), Limit: 5}, ErrLong},
		{"too many words in quotes", Query{Text: `"` + strings.Repeat("ab ", 33), Limit: 5}, ErrLong},
		{"text too long", Query{Text: strings.Repeat(" ", MaxQueryBytes) + "deed", Limit: 5}, ErrLong},
		{"page after the last", Query{Text: "deed", Offset: 990, Limit: 20}, ErrDeep},
		{"negative offset", Query{Text: "deed", Offset: -1, Limit: 20}, ErrDeep},
		{"overflow", Query{Text: "deed", Offset: 1, Limit: 1<<63 - 1}, ErrDeep},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := search(context.Background(), n, Options{}.withDefaults(), row.query); !errors.Is(err, row.want) {
				t.Errorf("search(%q) = %v, want %v", row.query.Text, err, row.want)
			}
		})
	}
}

// TestEachPrefixFindsDocument checks that a document is found by each prefix of at least two
// letters.
func TestEachPrefixFindsDocument(t *testing.T) {
	n := newNaiveEngine(t, library())
	for _, row := range []struct {
		text string
		want Hit
	}{
		{"2026-0117", Hit{Kind: Order, ID: 1}},
		{"12-3-0451", Hit{Kind: Abstract, ID: 2}},
		{"12 3 0451", Hit{Kind: Abstract, ID: 2}},
		{"smithson mcdonald", Hit{Kind: Abstract, ID: 2}},
		{"o'brien smith", Hit{Kind: Abstract, ID: 1}},
		{"johnson & sons llc", Hit{Kind: Order, ID: 2}},
		{"bk 1022 pg 311", Hit{Kind: File, ID: 1}},
		{"bk 88 pg 4", Hit{Kind: File, ID: 4}},
		{"02_deed_2019-03-14_bk1022-pg311_smith-to-jones.pdf", Hit{Kind: File, ID: 1}},
		{"peña smith's farm", Hit{Kind: Abstract, ID: 3}},
	} {
		t.Run(row.text, func(t *testing.T) {
			for end := range row.text + " " {
				if end < 2 || end == 2 && row.text[1] == '\'' {
					continue
				}
				a, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: row.text[:end], Limit: 20})
				if err != nil {
					t.Fatalf("search: %v", err)
				}
				found := false
				for _, h := range a.Hits {
					found = found || h.Kind == row.want.Kind && h.ID == row.want.ID
				}
				if !found {
					t.Errorf("search(%q) = %s, want %v among them", row.text[:end], formatHits(a), row.want)
				}
			}
		})
	}
}

// TestManyPrefixes checks that a document is found even if many other words have the same prefix.
func TestManyPrefixes(t *testing.T) {
	var otherWords strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&otherWords, "conv%c%c%c conveya%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676, 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	n := newNaiveEngine(t, []Document{
		{Kind: File, ID: 1, Text: pages("a conveyance of land"), Fields: []string{"Lakeview"}},
		{Kind: File, ID: 2, Text: pages(otherWords.String())},
		{Kind: File, ID: 3, Names: []string{"internationalization"}, Numbers: []string{"2026-0117-0003-0009"}},
	})
	for _, row := range []struct{ text, want string }{
		{"conv", "[f1 f2]"}, {"conve", "[f1 f2]"}, {"convey", "[f1 f2]"}, {"conveyan", "[f1 f2]"}, {"conveyance", "[f1 f2]"},
		{"lake", "f1"}, {"lakevi", "f1"}, {"lakeview", "f1"},
		{"internationa", "f3"}, {"internationaliz", "f3"}, {"2026-0117-0003-0", "f3"}, {"20260117000300", "f3"},
	} {
		t.Run(row.text, func(t *testing.T) {
			a, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: row.text, Limit: 5})
			if err != nil || !sameOrder(formatHits(a), row.want) {
				t.Errorf("search(%q) = %s, %v, want %s", row.text, formatHits(a), err, row.want)
			}
		})
	}
}

// TestManyLongNumbers checks that a long prefix finds numbers, best matches first, even if the
// number of terms with the same first twelve characters exceeds maxPrefixTerms.
func TestManyLongNumbers(t *testing.T) {
	var documents []Document
	for i := range 200 {
		documents = append(documents, Document{Kind: Order, ID: uint64(i), Numbers: []string{fmt.Sprintf("ORD-2026-000001-%04d", i)}})
	}
	n := newNaiveEngine(t, documents)
	for _, row := range []struct {
		text string
		want int
	}{{"ORD-2026-000001-0", 200}, {"ORD-2026-000001-00", 100}, {"ORD-2026-000001-007", 10}, {"ORD-2026-000001-0077", 1}} {
		t.Run(row.text, func(t *testing.T) {
			a, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: row.text, Limit: 1})
			if err != nil || a.Counts[Order] < row.want || a.Counts[Order] > 200 ||
				!strings.HasPrefix(fmt.Sprintf("%04d", a.Hits[0].ID), row.text[16:]) {
				t.Errorf("search(%q) = %v, %v, want at least %d", row.text, a, err, row.want)
			}
		})
	}
}

// FuzzSearch checks that any text either is rejected as invalid or stays within the limit of nodes.
func FuzzSearch(f *testing.F) {
	for _, row := range searches {
		f.Add(row.query.Text)
	}
	f.Add(strings.Repeat("o ", 32))
	f.Add(strings.Repeat("smth ", 32))
	f.Add(strings.Repeat("7-", 31) + "2026")
	f.Add(strings.Repeat("mac dermott le ", 10) + "la")
	f.Add(strings.Repeat("de la mac ", 10) + "mc")
	f.Add(strings.Repeat("county of new york ", 8))
	f.Add("9/14/2026 Sept 14, 2025 14th of September, 2024 1/2/34")
	f.Add(strings.Repeat("12 ", 2) + "September 14, 2026 7 8 14th day of March, 2026 " + strings.Repeat("smth ", 18))
	f.Add(strings.Repeat("t & s a 1 0417 ", 5))
	f.Add(`"" "a" «b» \xff" "`)
	f.Add("土地 \u0301 ﷺ ½ " + strings.Repeat("ж", 100))
	f.Fuzz(func(t *testing.T, text string) {
		n := newNaiveEngine(t, library())
		_, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: text, Limit: 20})
		if err != nil && !errors.Is(err, ErrShort) && !errors.Is(err, ErrLong) {
			t.Fatalf("search(%q) = %v, want %v or %v", text, err, ErrShort, ErrLong)
		}
		if limit := maxNodes(defaultMaxWords); n.maxNodes > limit {
			t.Errorf("search(%q) uses %d nodes, want at most %d", text, n.maxNodes, limit)
		}
		if limit := 3 * maxFuzzyLookups; n.lookups > limit {
			t.Errorf("search(%q) looks up %d terms, want at most %d", text, n.lookups, limit)
		}
	})
}
