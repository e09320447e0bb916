package query

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// pitfallDocs returns documents that earlier versions found by mistake or failed to find.
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
		{name: "missing page", text: "Bk 1022 Pg 999"},
		{name: "digits are required", text: "mill street 99"},
		{name: "letters are required", text: "mill street xx"},
		{name: "number after names", text: "carl johnson 99"},
		{name: "prefix of digits", text: "mill street 4", want: "[a1 a2]"},
		{name: "prefix of two letters in the text", text: "parcel od", want: "f2"},
		{name: "single letter as a prefix", text: "mill s", want: "[a1 a2]", relaxed: true},
		{name: "exact page only", text: "Bk 1022 Pg 311", want: "a1"},
		{name: "amount is one number", text: "387,500", want: "f2"},
		{name: "prefix of an amount", text: "387,5", want: "f2"},
		{name: "letter and digit", text: "A-1", want: "a3"},
		{name: "date is one number", text: "12/17/2026", want: "f2"},
		{name: "leading zeros in the number", text: "212/77", want: "a4"},
		{name: "leading zeros of a page", text: "2417/883", want: "a3 f3"},
		{name: "leading zeros of a page in words", text: "bk 2417 pg 883", want: "a3 f3"},
		{name: "leading zeros only in the query", text: "2417/0887", want: "a4"},
		{name: "exact notation first", text: "12-3-045", want: "a1 a2 a3"},
		{name: "exact notation first, newer abstract", text: "123-045", want: "a2 a1"},
		{name: "notation with zeros last", text: "12-3-45", want: "a3 a1"},
		{name: "complete part before a prefix", text: "2026-0117", want: "a1 a2"},
		{name: "letters without punctuation", text: "470312b11904", want: "f2"},
		{name: "prefix without punctuation", text: "470312b119", want: "f2"},
		{name: "phone number", text: "9855550142", want: "o1"},
		{name: "phone number with hyphens", text: "985-555-0142", want: "o1"},
		{name: "phone number as stored", text: "(985) 555-0142", want: "o1"},
		{name: "prefix of a phone number", text: "(985) 555-01", want: "o1"},
		{name: "prefix of a phone number without punctuation", text: "98555501", want: "o1"},
		{name: "missing letter", text: "jon smith", want: "a2", fuzzy: true},
		{name: "complete word is not a fuzzy prefix", text: "jones john", fuzzy: false},
		{name: "open quote", text: `"of the sai`, want: "f2"},
		{name: "leading zeros in both", text: "0077 ", want: "a4"},
		{name: "leading zeros only in the query, complete word", text: "0887 "},
		{name: "many leading zeros of a part in the query", text: "2417/000883 ", want: "a3"},
		{name: "leading zeros of a page only in the query", text: "pg 0887 ", want: "a4"},
		{name: "letter and digit with a blank", text: "A 1", want: "a3"},
		{name: "adjacent letters", text: "q&t ", want: "f4"},
		{name: "letters with blanks", text: "q & t", want: "f4"},
		{name: "letters in reverse sequence", text: "t&q"},
		{name: "open quote with a prefix of two letters", text: `"of the sa`, want: "[f2 f3]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, engine := range []searcher{n, x.Index} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 12})
				if got := formatHits(a); err != nil || !sameOrder(got, row.want) || a.Fuzzy != row.fuzzy || a.Relaxed != row.relaxed {
					t.Errorf("search(%q) = %s (fuzzy: %t, relaxed: %t, %v), want %s", row.text, got, a.Fuzzy, a.Relaxed, err, row.want)
				}
			}
		})
	}
}

// Values of money, email, phone, and URL fields are found by their parts and in any notation.
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
			for _, engine := range []searcher{n, x.Index} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 12})
				if got := formatHits(a); err != nil || !sameOrder(got, row.want) || a.Fuzzy || a.Relaxed {
					t.Errorf("search(%q) = %s (fuzzy: %t, relaxed: %t, %v), want %s", row.text, got, a.Fuzzy, a.Relaxed, err, row.want)
				}
			}
		})
	}
}

// Single letters separated by blanks are found together first, then anywhere. The letter being
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
	var otherWords []string // more words than an open phrase is expanded to
	for i := range maxExpansion {
		for _, letter := range "thw" {
			otherWords = append(otherWords, fmt.Sprintf("%ca%c%c", letter, 'a'+i/26, 'a'+i%26))
		}
	}
	documents = append(documents, Document{Kind: Order, ID: 1, Fields: otherWords, Text: pages(strings.Join(otherWords, " "))})
	n, x := newNaiveEngine(t, documents), newTestIndex(t, documents)
	for _, row := range []struct {
		text, want, marked string
		approximateFrom    int // index of the first approximate hit
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
			for _, engine := range []searcher{n, x.Index} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 12})
				if got := formatHits(a); err != nil || got != row.want || a.Fuzzy || a.Relaxed != row.relaxed {
					t.Errorf("search(%q) = %s (fuzzy: %t, relaxed: %t, %v), want %s", row.text, got, a.Fuzzy, a.Relaxed, err, row.want)
				}
				for i, h := range a.Hits {
					if h.Approximate != (i >= row.approximateFrom) {
						t.Errorf("hit %d: Approximate = %t, want %t", i, h.Approximate, i >= row.approximateFrom)
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
