package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// library returns the documents of most tests; the newest are last.
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

// formatHits writes hits as a1 o2 f3.
func formatHits(a Result) string {
	var s []string
	for _, h := range a.Hits {
		s = append(s, fmt.Sprintf("%c%d", " aof"[h.Kind], h.ID))
	}
	return strings.Join(s, " ")
}

var searches = []struct {
	name  string
	query Query
	want  string // hits in order; those in brackets in any order
	fuzzy bool
}{

	{"file number", Query{Text: "2026-0117"}, "[a1 o1]", false},
	{"its beginning, newest first", Query{Text: "2026-01"}, "[a2 a1 o1]", false},
	{"two characters", Query{Text: "20"}, "[a2 a1 o1] [f1 o2]", false},
	{"three", Query{Text: "202"}, "[a2 a1 o1] o2", false},
	{"with a hyphen behind", Query{Text: "2026-"}, "[a2 a1 o1] f3", false},
	{"the end of a number", Query{Text: "0117"}, "[a1 o1]", false},
	{"parcel, with punctuation", Query{Text: "12-3-045 "}, "[a3 a1] [f2 f3]", false},
	{"parcel, without", Query{Text: "123045 "}, "[a3 a1] [f2 f3]", false},
	{"parcel, with blanks", Query{Text: "12 3 045 "}, "[a3 a1] [f2 f3]", false},
	{"the number first, then what begins so", Query{Text: "123045"}, "[a3 a1] a2 [f3 f2]", false},
	{"slashes", Query{Text: "ord 2025 77"}, "o2", false},
	{"no case", Query{Text: "ORD202577"}, "o2", false},
	{"book and page", Query{Text: "Bk 1022 Pg 311"}, "f1", false},
	{"book and page in words", Query{Text: "Book 1022, Page 311 "}, "f1", false},
	{"book and page in one", Query{Text: "Bk1022-Pg311"}, "f1", false},
	{"book and page of a number", Query{Text: "88/4"}, "f4", false},
	{"book and page of a number in words", Query{Text: "book 88 page 4"}, "f4", false},
	{"what kind of number, before it", Query{Text: "order no. 2026-0117"}, "[a1 o1]", false},
	{"what kind of number, alone", Query{Text: "parcel"}, "f2", false},
	{"liber and folio", Query{Text: "Liber 88 f. 4 "}, "f4", false},
	{"book and page, and a name", Query{Text: "plat book 88 folio 4 "}, "f4", false},
	{"a number and a name", Query{Text: "2026-0117 smith "}, "a1", false},
	{"a name, fields before text", Query{Text: "smith "}, "[f1 a3 a1] f4 f2", true},
	{"a name's beginning, then of other fields", Query{Text: "smi"}, "[f1 a2 a1] a3", false},
	{"three letters of a field alone", Query{Text: "far"}, "a3", false},
	{"two letters", Query{Text: "gi"}, "a2", false},
	{"three letters of the text alone", Query{Text: "con"}, "", false},
	{"a beginning of the text", Query{Text: "convey"}, "[f3 f4]", false},
	{"accents", Query{Text: "pena "}, "a3", false},
	{"accents typed", Query{Text: "PEÑA "}, "a3", false},
	{"apostrophe", Query{Text: "o'brien "}, "a1", false},
	{"apostrophe left out", Query{Text: "obrien "}, "a1", false},
	{"a blank for the apostrophe", Query{Text: "o brien "}, "a1", false},
	{"Mc with a blank", Query{Text: "mc donald "}, "a2", false},
	{"possessive", Query{Text: "smith's farm "}, "a3", false},
	{"initials", Query{Text: "johnson l.l.c. "}, "o2", false},
	{"and", Query{Text: "johnson and sons "}, "o2", false},
	{"street, short and long", Query{Text: "main street "}, "[a2 a1]", false},
	{"several words are all of them", Query{Text: "deed gift "}, "a2", false},
	{"words of fields and of text", Query{Text: "mortgage conveyance "}, "f3", false},
	{"phrase", Query{Text: `"deed of trust"`}, "f1", false},
	{"phrase of a field", Query{Text: `"deed of gift"`}, "a2", false},
	{"phrase being typed", Query{Text: `"deed of tr`}, "f1", false},
	{"phrase being typed, and found", Query{Text: `"deed of trus`}, "f1", false},
	{"phrase with one letter in it", Query{Text: `"jonathan q public"`}, "f3", false},
	{"one letter beside others", Query{Text: "jonathan q "}, "[f3 f4]", false},
	{"one letter on the way", Query{Text: "main s"}, "[a2 a1]", false},
	{"two words together before others", Query{Text: "jonathan conveyed "}, "f4", false},
	{"line end", Query{Text: "conveyance "}, "f3", false},
	{"a letter replaced", Query{Text: "smyth "}, "f2 [f1 a1 a3] f4", true},
	{"a letter too few", Query{Text: "jonatan "}, "[f3 f4]", true},
	{"letters swapped", Query{Text: "mortgaeg "}, "[f3] f2", true},
	{"a letter too many", Query{Text: "mcddonald "}, "a2", true},
	{"an error in a beginning", Query{Text: "smtihs"}, "a3 a2", true},
	{"no errors in numbers", Query{Text: "2026-0119 "}, "", false},
	{"no errors in quotes", Query{Text: `"jonatan"`}, "", false},
	{"kind", Query{Text: "2026", Kind: Order}, "o1", false},
	{"template", Query{Text: "smith ", Template: 7}, "[a3 a1]", false},
	{"county, without case", Query{Text: "smi", County: "wexCombe"}, "[a2 a1]", false},
	{"county with an apostrophe", Query{Text: "smith ", County: "prince george's"}, "a3", false},
	{"state", Query{Text: "2026", State: "va"}, "[a2 a1 o1]", false},
	{"status", Query{Text: "2026", Status: "OPEN"}, "o1", false},
	{"an unknown status", Query{Text: "2026", Status: "-"}, "", false},
	{"days", Query{Text: "2026-", HasDateRange: true, From: 150, To: 200}, "[a2 o1]", false},
	{"filters together", Query{
		Text: "2026", Template: 7, County: "Wexcombe", State: "VA", Kind: Abstract, HasDateRange: true, To: 100,
	}, "a1", false},
	{"nothing", Query{Text: "zebra"}, "", false},
}

// pitfallDocs returns documents with values that were found by mistake or not at all.
func pitfallDocs() []Document {
	return []Document{
		{Kind: Abstract, ID: 1, CreatedDay: 1, Numbers: []string{"12-3-045", "TA-2026-0117", "Bk 1022 Pg 311"}, Names: []string{"Carl Johnson"},
			Fields: []string{"40 Mill Street"}},
		{Kind: Abstract, ID: 2, CreatedDay: 2, Numbers: []string{"123-045", "TA-2026-01170", "Bk 1022 Pg 312"}, Names: []string{"John Smith"},
			Fields: []string{"42 Mill Street"}},
		{Kind: Abstract, ID: 3, CreatedDay: 3, Numbers: []string{"12-3-45", "A-1", "Bk 2417 Pg 0883"}, Names: []string{"Mary Jones"}},
		{Kind: Abstract, ID: 4, CreatedDay: 4, Numbers: []string{"0212/0077", "Bk 2417 Pg 887"}},
		{Kind: File, ID: 1, CreatedDay: 5, Names: []string{"index.pdf"},
			Text: pages("page 387 of the book, a lot of 500 and 1, and 17 more, 12 of 2026, the sand 212 by 77")},
		{Kind: File, ID: 2, CreatedDay: 6, Names: []string{"deed.pdf"},
			Text: pages("for $387,500.00 the estate of the said Odessa, parcel 47-0312-B-119.04, of 12/17/2026")},
		{Kind: Order, ID: 1, CreatedDay: 4, Names: []string{"Bayou Title"}, Fields: []string{"(985) 555-0142"}},
		{Kind: File, ID: 3, CreatedDay: 7, Names: []string{"plat.pdf"},
			Text: pages("of the sand, and said what was not of the estate of the trust; recorded in Book 2417, Page 0883")},
		{Kind: File, ID: 4, CreatedDay: 8, Names: []string{"Q & T.pdf"}, Text: pages("t of q")},
	}
}

func TestPitfalls(t *testing.T) {
	n, x := newNaiveEngine(t, pitfallDocs()), newTestIndex(t, pitfallDocs())
	for _, row := range []struct {
		name, text, want string
		fuzzy, relaxed   bool
	}{
		{name: "a missing page", text: "Bk 1022 Pg 999"},
		{name: "digits are not dropped", text: "mill street 99"},
		{name: "letters are not dropped", text: "mill street xx"},
		{name: "a number after names", text: "carl johnson 99"},
		{name: "a prefix of digits", text: "mill street 4", want: "[a1 a2]"},
		{name: "two letters of the text", text: "parcel od", want: "f2"},
		{name: "an unfinished letter", text: "mill s", want: "[a1 a2]", relaxed: true},
		{name: "the page typed, no other", text: "Bk 1022 Pg 311", want: "a1"},
		{name: "an amount is one number", text: "387,500", want: "f2"},
		{name: "unfinished", text: "387,5", want: "f2"},
		{name: "letter and digit", text: "A-1", want: "a3"},
		{name: "a date is one number", text: "12/17/2026", want: "f2"},
		{name: "zeros typed and not", text: "212/77", want: "a4"},
		{name: "zeros of a page", text: "2417/883", want: "a3 f3"},
		{name: "zeros of a page in words", text: "bk 2417 pg 883", want: "a3 f3"},
		{name: "zeros typed that are not there", text: "2417/0887", want: "a4"},
		{name: "as typed first", text: "12-3-045", want: "a1 a2 a3"},
		{name: "as typed first, the later one", text: "123-045", want: "a2 a1"},
		{name: "zeros last", text: "12-3-45", want: "a3 a1"},
		{name: "a complete part before a prefix", text: "2026-0117", want: "a1 a2"},
		{name: "letters without punctuation", text: "470312b11904", want: "f2"},
		{name: "unfinished, without punctuation", text: "470312b119", want: "f2"},
		{name: "a telephone number", text: "9855550142", want: "o1"},
		{name: "a telephone number with hyphens", text: "985-555-0142", want: "o1"},
		{name: "a telephone number as written", text: "(985) 555-0142", want: "o1"},
		{name: "an unfinished telephone number", text: "(985) 555-01", want: "o1"},
		{name: "an unfinished telephone number without punctuation", text: "98555501", want: "o1"},
		{name: "a letter lost of three", text: "jon smith", want: "a2", fuzzy: true},
		{name: "a complete word is not a fuzzy prefix", text: "jones john", fuzzy: false},
		{name: "an open quote", text: `"of the sai`, want: "f2"},
		{name: "zeros typed are there", text: "0077 ", want: "a4"},
		{name: "zeros typed are not there", text: "0887 "},
		{name: "many zeros typed of a part", text: "2417/000883 ", want: "a3"},
		{name: "zeros typed of a page alone", text: "pg 0887 ", want: "a4"},
		{name: "a letter and a digit with a blank", text: "A 1", want: "a3"},
		{name: "letters next to each other", text: "q&t ", want: "f4"},
		{name: "with blanks", text: "q & t", want: "f4"},
		{name: "the other way around", text: "t&q"},
		{name: "two letters of it", text: `"of the sa`, want: "[f2 f3]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, engine := range []searcher{n, x.engine} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 12})
				if got := formatHits(a); err != nil || !sameOrder(got, row.want) || a.Fuzzy != row.fuzzy || a.Relaxed != row.relaxed {
					t.Errorf("search(%q) = %s (fuzzy: %t, relaxed: %t, %v), want %s", row.text, got, a.Fuzzy, a.Relaxed, err, row.want)
				}
			}
		})
	}
}

// Values of money, email, phone, and url fields are found in any notation and by their parts.
func TestValuesOfTypes(t *testing.T) {
	documents := []Document{
		{Kind: Order, ID: 1, CreatedDay: 1, Numbers: []string{"1234.50", "+1 (985) 555-0142 x7"},
			Fields: []string{"ann.oneil@bayou-title.com", "https://recorder.example.gov/deeds?book=12"}},
		{Kind: Order, ID: 2, CreatedDay: 2, Numbers: []string{"387500.00", "9855550177"},
			Fields: []string{"bob@example.com", "http://gis01/maps"}},
	}
	n, x := newNaiveEngine(t, documents), newTestIndex(t, documents)
	for _, row := range []struct{ text, want string }{
		{"1234.50", "o1"}, {"$1,234.50", "o1"}, {"1234", "o1"}, {"387,500", "o2"}, {"$387,500.00", "o2"},
		{"9855550142", "o1"}, {"(985) 555-0142", "o1"}, {"985-555-0142", "o1"}, {"985-555-0177", "o2"}, {"9855550177", "o2"},
		{"ann.oneil@bayou-title.com", "o1"}, {"oneil", "o1"}, {"bayou-title.com", "o1"}, {"bayou", "o1"}, {"bob@", "o2"},
		{"recorder.example.gov", "o1"}, {"https://recorder.example.gov/deeds?book=12", "o1"}, {"gis01", "o2"},
	} {
		t.Run(row.text, func(t *testing.T) {
			for _, engine := range []searcher{n, x.engine} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 12})
				if got := formatHits(a); err != nil || !sameOrder(got, row.want) || a.Fuzzy || a.Relaxed {
					t.Errorf("search(%q) = %s (fuzzy: %t, relaxed: %t, %v), want %s", row.text, got, a.Fuzzy, a.Relaxed, err, row.want)
				}
			}
		})
	}
}

// Single letters with blanks between them are found together first, then anywhere. The letter being
// typed is optional.
func TestSeparateLetters(t *testing.T) {
	documents := []Document{
		{Kind: Abstract, ID: 1, CreatedDay: 1, Fields: []string{"77 N. Zwurble St., Apt B"}},
		{Kind: Abstract, ID: 2, CreatedDay: 2, Fields: []string{"5653 N. Tisose Road"}},
		{Kind: Abstract, ID: 3, CreatedDay: 3, Fields: []string{"805 S.W. Wyllis Ave"}},
		{Kind: Abstract, ID: 4, CreatedDay: 4, Names: []string{"Robert L. Hunt"}},
		{Kind: Abstract, ID: 5, CreatedDay: 5, Fields: []string{"805 S. Elm W"}},
		{Kind: File, ID: 1, CreatedDay: 6, Text: pages("Robert H and L. Hunt; Robert L. H")},
		{Kind: File, ID: 2, CreatedDay: 7, Text: pages("Robert T of S")},
	}
	var otherWords []string // more than a phrase is expanded to
	for i := range maxExpansion {
		for _, letter := range "thw" {
			otherWords = append(otherWords, fmt.Sprintf("%ca%c%c", letter, 'a'+i/26, 'a'+i%26))
		}
	}
	documents = append(documents, Document{Kind: Order, ID: 1, Fields: otherWords, Text: pages(strings.Join(otherWords, " "))})
	n, x := newNaiveEngine(t, documents), newTestIndex(t, documents)
	for _, row := range []struct {
		text, want, marked string
		approximateFrom    int // the first approximate hit
		relaxed            bool
	}{
		{text: "77 n zwurble apt b", want: "a1", approximateFrom: 1, marked: "{77} {N}. {Zwurble} St., {Apt} {B}"},
		{text: "apt b n zwurble", want: "a1", approximateFrom: 1, marked: "77 {N}. {Zwurble} St., {Apt} {B}"},
		{text: "zwurble b n", want: "a1", approximateFrom: 1},
		{text: "zwurble b n ", want: "a1", approximateFrom: 1},
		{text: "zwurble b q ", want: ""},
		{text: "b n", want: ""},
		{text: "b n no", want: ""},
		{text: "5653 N.", want: "a2", approximateFrom: 1},
		{text: "5653 N. T", want: "a2", relaxed: true, marked: "{5653 N. Tisose} Road"},
		{text: "5653 N. Ti", want: "a2", approximateFrom: 1},
		{text: "805 S.W. W", want: "a3", approximateFrom: 1, marked: "{805 S.W. Wyllis} Ave"},
		{text: "805 S.W. T", want: "a3", relaxed: true},
		{text: "805 S.W. Q ", want: ""},
		{text: "805 s w", want: "a3 a5", approximateFrom: 2},
		{text: "Robert L. H", want: "f1 a4", approximateFrom: 1, relaxed: true},
		{text: "robert t & s", want: ""},
	} {
		t.Run(row.text, func(t *testing.T) {
			for _, engine := range []searcher{n, x.engine} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 12})
				if got := formatHits(a); err != nil || got != row.want || a.Fuzzy || a.Relaxed != row.relaxed {
					t.Errorf("search(%q) = %s (fuzzy: %t, relaxed: %t, %v), want %s", row.text, got, a.Fuzzy, a.Relaxed, err, row.want)
				}
				for i, h := range a.Hits {
					if h.Approximate != (i >= row.approximateFrom) {
						t.Errorf("hit %d is a approximateFrom: %t", i, h.Approximate)
					}
				}
				if row.marked != "" && len(a.Hits) == 1 {
					if got := formatPieces(NewHighlighter(row.text).Highlight(documents[a.Hits[0].ID-1].Fields[0])); got != row.marked {
						t.Errorf("Highlight = %s, want %s", got, row.marked)
					}
				}
			}
		})
	}
}

// bookPageDocs returns documents with books and pages, and with similar values.
func bookPageDocs() []Document {
	return []Document{
		{Kind: Abstract, ID: 1, CreatedDay: 1, Numbers: []string{"Bk 1022 Pg 311", "LA-2026-00417"}, Names: []string{"Théodore Hébert"}},
		{Kind: Abstract, ID: 2, CreatedDay: 2, Numbers: []string{"COB 1022, folio 312"}, Names: []string{"Claude St. Pierre"}},
		{Kind: Abstract, ID: 3, CreatedDay: 3, Numbers: []string{"MOB 1022 Pg 312", "Inst. No. 2019-88123"}, Names: []string{"Odette Landry"}},
		{Kind: Abstract, ID: 4, CreatedDay: 4, Numbers: []string{"COB 1505 Pg 205"}},
		{Kind: File, ID: 1, CreatedDay: 5, Numbers: []string{"COB 1022 Pg 311"}, Names: []string{"Cash Sale COB 1022 Pg 311 Hebert to ONeal.pdf"},
			Text: pages("recorded in the book at page 500 or of the map of the official records, " +
				"parcel 47-0312-B-119.04, conveyance of 312 mortgage bk ob")},
		{Kind: File, ID: 2, CreatedDay: 6, Names: []string{"release.pdf"},
			Text: pages("releases the mortgage recorded in Conveyance Book 1022, Folio 312 of the parish")},
		{Kind: Order, ID: 1, CreatedDay: 6, Fields: []string{"2026-12-03"}},
		{Kind: File, ID: 3, CreatedDay: 7, Names: []string{"2019 Taxes.txt"}, Text: pages("the taxes of 2019, page 1022 of 2000")},
	}
}

func TestBookAndPage(t *testing.T) {
	n, x := newNaiveEngine(t, bookPageDocs()), newTestIndex(t, bookPageDocs())
	for _, row := range []struct {
		text, first, all string // the first hits, in any order, and all hits
		relaxed          bool
	}{
		{text: "COB 1022 Pg 312", first: "a2", all: "a2 a3 f1 f2"},
		{text: "cob 1022 folio 312 ", first: "a2", all: "a2 a3 f1 f2", relaxed: true},
		{text: "C.O.B. 1022/312", first: "a2", all: "a2 a3 f2"},
		{text: "1022 312", first: "a2 a3", all: "a2 a3 f1 f2"},
		{text: "1022/312", first: "a2 a3", all: "a2 a3"},
		{text: "book 1022 page 312", first: "a2 a3", all: "a2 a3 f1 f2"},
		{text: "Mortgage Book 1022 Page 312", first: "a3", all: "a2 a3 f1 f2"},
		{text: "MOB 1022 Pg 312", first: "a3", all: "a2 a3 f1 f2", relaxed: true},
		{text: "cob 1022 pg 311", first: "a1 f1", all: "a1 f1"},
		{text: "Bk 1022 Pg 311", first: "a1 f1", all: "a1 f1"},
		{text: "conv bk 1022 pg 311", first: "a1 f1", all: "a1 f1"},
		{text: "ob 1022 pg 311", first: "a1", all: "a1 f1"},
		{text: "OR Book 1022 Page 311", first: "a1", all: "a1 f1"},
		{text: "map book 1022 page 311", first: "a1", all: "a1 f1"},
		{text: "Conveyance Book 1505 Page 205", first: "a4", all: "a4"},
		{text: "1505 205", first: "a4", all: "a4"},
		{text: "bk 1022 pg 31", first: "a1 f1 a2 a3", all: "a1 a2 a3 f1"},
		{text: "cob 1022 pg 3", first: "f1", all: "a1 a2 a3 f1"},
		{text: "conveyance book 1022 page 311 hebert", first: "f1", all: "a1 f1", relaxed: true},
		{text: "conveyance book no. 1505 hebert"},
		{text: "instrument 2019-88123", first: "a3", all: "a3"},
		{text: "2019-88123", first: "a3", all: "a3"},
		{text: `"order 2019-88123"`},
		{text: "book 1022 page 999"},
		{text: "map book 12 page 3", first: "o1", all: "o1", relaxed: true}, // the only way it is found
	} {
		t.Run(row.text, func(t *testing.T) {
			for _, engine := range []searcher{n, x.engine} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 4})
				got := formatHits(a)
				first := strings.Join(strings.Fields(got)[:min(len(a.Hits), len(strings.Fields(row.first)))], " ")
				if err != nil || !sameOrder(first, "["+row.first+"]") || !sameOrder(got, "["+row.all+"]") || a.Relaxed != row.relaxed {
					t.Errorf("search(%q) = %s (relaxed: %t, %v), want first %s of %s: %v", row.text, got, a.Relaxed, err, row.first, row.all, a.Hits)
				}
			}
		})
	}
}

// TestRanking checks the complete order of hits.
func TestRanking(t *testing.T) {
	typing := []Document{
		{Kind: Order, ID: 1, CreatedDay: 1, Numbers: []string{"23-001234"}, Fields: []string{"2026-12-23"}},
		{Kind: Abstract, ID: 1, CreatedDay: 2, Numbers: []string{"23-001235"}, Names: []string{"Claude Hébert", "O'Neal"}},
		{Kind: File, ID: 1, CreatedDay: 3, Numbers: []string{"Bk2300-Pg12"}, Names: []string{"23_Deed_Bk2300-Pg12 Hebert.pdf"}},
		{Kind: Order, ID: 2, CreatedDay: 4, Numbers: []string{"2300-77"}, Names: []string{"Ann Hebert", "ONeal"}, Fields: []string{"2027-01-23"}},
		{Kind: File, ID: 2, CreatedDay: 5, Names: []string{"Hebert to ONeal.pdf"}, Text: pages("of 23 arpents")},
		{Kind: Abstract, ID: 2, CreatedDay: 6, Numbers: []string{"230-0123"}, Names: []string{"Hebert"}, Fields: []string{"2025-11-23"}},
		{Kind: Order, ID: 3, CreatedDay: 7, Names: []string{"Zoe Hebert"}, Fields: []string{"2026-09-23"}},
		{Kind: Abstract, ID: 3, CreatedDay: 8, Numbers: []string{"23-001-234-000-77"}},
	}
	n, x := newNaiveEngine(t, typing), newTestIndex(t, typing)
	for _, row := range []struct{ name, text, want string }{
		{"as typed, then digits", "23-00", "a3 a1 o1 a2 o2 f1"},
		{"the digits alone", "2300", "o2 f1 a3 a2 a1 o1"},
		{"one more", "23-0012", "a1 o1 a3 a2 f1"},
		{"as typed, in more than is in the index", "23-001-234-000", "a3"},
		{"two digits begin numbers before they are days", "23", "a3 a2 a1 o2 o1 f1 o3 f2"},
		{"two digits and a word", "hebert 23", "a2 a1 o3 o2 f1 f2"},
		{"abstracts, orders, documents", "hebert ", "a2 a1 o3 o2 f2 f1"},
		{"being typed", "heber", "a2 a1 o3 o2 f2 f1"},
		{"with an apostrophe", "O'Neal", "a1 o2 f2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, engine := range []searcher{n, x.engine} {
				for limit := 1; limit <= 12; limit++ {
					a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: limit})
					want := strings.Fields(row.want)
					want = want[:min(limit, len(want))]
					if got := formatHits(a); err != nil || got != strings.Join(want, " ") {
						t.Errorf("search(%q) with limit %d = %s, %v, want %s: %v", row.text, limit, got, err, want, a.Hits)
					}
				}
			}
		})
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

// sameOrder compares hits with want, in which those in brackets may be in any order.
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
		these := slices.Clone(hits[:len(wanted)])
		slices.Sort(these)
		slices.Sort(wanted)
		if !slices.Equal(these, wanted) {
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
		{"nothing", Query{}, ErrShort},
		{"one letter", Query{Text: "a", Limit: 5}, ErrShort},
		{"punctuation", Query{Text: ` "--" .'`, Limit: 5}, ErrShort},
		{"a letter and punctuation", Query{Text: "-a-", Limit: 5}, ErrShort},
		{"many words", Query{Text: strings.Repeat("ab ", 33), Limit: 5}, ErrLong},
		{"many words in quotes", Query{Text: `"` + strings.Repeat("ab ", 33), Limit: 5}, ErrLong},
		{"a long text", Query{Text: strings.Repeat(" ", MaxQueryBytes) + "deed", Limit: 5}, ErrLong},
		{"a deep page", Query{Text: "deed", Offset: 990, Limit: 20}, ErrDeep},
		{"before the first", Query{Text: "deed", Offset: -1, Limit: 20}, ErrDeep},
		{"no number", Query{Text: "deed", Offset: 1, Limit: 1<<63 - 1}, ErrDeep},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := search(context.Background(), n, Options{}.withDefaults(), row.query); !errors.Is(err, row.want) {
				t.Errorf("search(%q) = %v, want %v", row.query.Text, err, row.want)
			}
		})
	}
}

// TestEachPrefixFindsDocument checks that a document is found from the second letter on, at each
// letter typed.
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

// TestManyPrefixes checks that a document is found however many other words start with the same
// letters.
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

// TestManyLongNumbers checks that numbers are found by a long prefix, best matches first, even if
// more of them than are expanded share the first twelve characters.
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

// FuzzSearch checks that any text is rejected as invalid or stays within the limit of nodes.
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
		if limit := 3 * maxFuzzyLookups; n.known > limit {
			t.Errorf("search(%q) looks up %d terms, want at most %d", text, n.known, limit)
		}
	})
}
