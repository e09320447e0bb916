package query

import (
	"context"
	"strings"
	"testing"
)

// datedDocs returns documents with the same date in various notations, and some without that date.
func datedDocs() []Document {
	return []Document{
		{Kind: Order, ID: 1, CreatedDay: 1, Fields: []string{"2026-03-14"}},
		{Kind: Order, ID: 2, CreatedDay: 2, Fields: []string{"2026-03-15"}},
		{Kind: Abstract, ID: 1, CreatedDay: 3, Numbers: []string{"12-3-045"}},
		{Kind: Abstract, ID: 2, CreatedDay: 4, Numbers: []string{"3-14-2026"}},
		{Kind: Abstract, ID: 3, CreatedDay: 5, Numbers: []string{"3-14-20261"}},
		{Kind: File, ID: 1, CreatedDay: 6, Text: pages("made and signed on March 14, 2026 in the parish")},
		{Kind: File, ID: 2, CreatedDay: 7, Text: pages("received 3/14/2026 by the clerk")},
		{Kind: File, ID: 3, CreatedDay: 8, Text: pages("received 03-14-2026 by the clerk")},
		{Kind: File, ID: 4, CreatedDay: 9, Text: pages("witness my hand this 14th day of March, 2026")},
		{Kind: File, ID: 5, CreatedDay: 10, Text: pages("Mar. 14th, 2026")},
		{Kind: File, ID: 6, CreatedDay: 11, Text: pages("the 14 Mar 2026")},
		{Kind: File, ID: 7, CreatedDay: 12, Names: []string{"20260314_Deed.pdf"}},
		{Kind: File, ID: 10, CreatedDay: 12, Names: []string{"02_2026-03-14_Lease.pdf"}},
		{Kind: File, ID: 8, CreatedDay: 13, Text: pages("page 3/14 of 2026, of 14 March and 13/45/2026")},
		{Kind: File, ID: 9, CreatedDay: 14, Text: pages("on 3/1/2026, and on May 5, 2026; taxes of 2026 in March, lot 14")},
	}
}

// allOfDay lists the datedDocs that contain the date.
const allOfDay = "a2 f1 f2 f3 f4 f5 f6 f7 f10 o1"

func TestDates(t *testing.T) {
	n, x := newNaiveEngine(t, datedDocs()), newTestIndex(t, datedDocs())
	for _, row := range []struct {
		text, first, all string // first: the top hits; all: all hits; each in any order
	}{
		{text: "3/14/2026", first: "a2 a3", all: "a3 " + allOfDay},
		{text: "3/14/2026 ", first: "a2", all: allOfDay},
		{text: "03/14/2026 ", first: "a2", all: allOfDay},
		{text: "3-14-2026 ", first: "a2", all: allOfDay},
		{text: "3-14-2026", first: "a2 a3", all: "a3 " + allOfDay},
		{text: "3/14/26", first: "a2 o1", all: allOfDay},
		{text: "2026-03-14", first: "o1", all: allOfDay},
		{text: "Mar 14, 2026", first: "", all: allOfDay},
		{text: "MARCH 14 2026 ", first: "", all: allOfDay + " f8 f9"},
		{text: "March 14th, 2026", first: "", all: allOfDay},
		{text: "14 March 2026", first: "", all: allOfDay + " f8 f9"},
		{text: "14th day of March, 2026", first: "", all: allOfDay},
		{text: "14-Mar-2026", first: "", all: allOfDay},
		{text: "clerk 3/14/2026 received", first: "", all: "f2 f3"},
		{text: "witness 2026-03-14 2026-03-14 ", first: "f4", all: "f4"},
		{text: `"3/14/2026"`, first: "a2", all: "a2 f2 f3"},
		{text: "12-3-045", first: "a1", all: "a1"},
		{text: "May 5, 2026", first: "f9", all: "f9"},
		{text: "5/5/2026", first: "f9", all: "f9"},
		{text: "13/45/2026", first: "f8", all: "f8"},
		{text: "2/30/2026", first: "", all: ""},
		{text: "page 3/14", first: "f8", all: "f8 a2 a3 o1 f2 f3 f10"},
	} {
		t.Run(row.text, func(t *testing.T) {
			for _, engine := range []searcher{n, x.Index} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 20})
				got := formatHits(a)
				first := strings.Join(strings.Fields(got)[:min(len(a.Hits), len(strings.Fields(row.first)))], " ")
				if err != nil || !sameOrder(first, "["+row.first+"]") || !sameOrder(got, "["+row.all+"]") {
					t.Errorf("search(%q) = %s, %v, want first %s of %s: %v", row.text, got, err, row.first, row.all, a.Hits)
				}
			}
		})
	}
}

// findDates accepts valid dates and nothing else.
func TestFindDates(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"3/14/2026", "20260314"}, {"03/04/2026", "20260304"}, {"3-14-2026", "20260314"}, {"2026-03-14", "20260314"},
		{"3/14/26", "20260314"}, {"3/14/29", "20290314"}, {"3/14/30", "19300314"}, {"3/14/99", "19990314"}, {"3/14/00", "20000314"},
		{"3/14/20", ""}, {"3/14/20 ", "20200314"}, {"3/14/19", ""}, {"2/29/2024", "20240229"}, {"2/29/2023", ""},
		{"Sept. 3rd, 1987", "19870903"}, {"sep 3 1987", "19870903"}, {"3 September 1987", "19870903"}, {"May 1st 2026", "20260501"},
		{"the 2nd of May, 1912", "19120502"}, {"lot 7 May 1, 1912 9", "19120501"}, {"5 14 March 2026", "20260314"},
		{"1/2/2026 1/3/2026 1/4/2026", "20260102 20260103"}, {"from Jan 1, 2025 to Dec 31, 2025", "20250101 20251231"},
		{"12-3-45", ""}, {"12-3-045", ""}, {"2026-3-14", ""}, {"2026-0117", ""}, {"3/14-2026", ""}, {"3.14.2026", ""}, {"3 14 2026", ""},
		{"14/3/2026", ""}, {"0/14/2026", ""}, {"3/0/2026", ""}, {"3/14/0026", ""}, {"3/14/9999", ""}, {"3/14/202", ""}, {"3/14", ""},
		{"March 2026", ""}, {"March 32, 2026", ""}, {"March 014, 2026", ""}, {"Marc 14, 2026", ""}, {"Mar 14, 20", ""}, {"14 2026 March", ""},
		{`"3/14/2026"`, ""}, {"02_Deed_2019-03-14_Bk1022.pdf", ""}, {"٣/١٤/٢٠٢٦", ""},
	} {
		t.Run(row.text, func(t *testing.T) {
			a, err := parse(row.text, defaultMaxWords)
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			var got []string
			for _, d := range a.findDates() {
				if got = append(got, d.digitWords[0]); len(d.wordPhrases) > 12 || len(d.digitWords) > 5 {
					t.Errorf("notations of %q = %q, %q; want at most 12 and 5", row.text, d.wordPhrases, d.digitWords)
				}
			}
			if got := strings.Join(got, " "); got != row.want {
				t.Errorf("dates in %q = %q, want %q", row.text, got, row.want)
			}
		})
	}
}

// digitWords contains the notations of a date in digits without punctuation.
func TestDigitNotations(t *testing.T) {
	for text, want := range map[string]string{
		"March 4, 2026":  "20260304 03042026 3042026 0342026 342026",
		"March 14, 2026": "20260314 03142026 3142026",
		"Nov 4, 2026":    "20261104 11042026",
		"Jan 4, 2026":    "20260104 01042026 0142026 142026",
		"Dec 31, 2026":   "20261231 12312026",
	} {
		t.Run(text, func(t *testing.T) {
			a, err := parse(text, defaultMaxWords)
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			if d := a.findDates(); len(d) != 1 || strings.Join(d[0].digitWords, " ") != want {
				t.Errorf("dates in %q = %v, want digits %s", text, d, want)
			}
		})
	}
}

// January 14 and November 4 can be written with the same digits. A search for one of them does not
// find the other.
func TestAmbiguousDigits(t *testing.T) {
	x := newTestIndex(t, []Document{
		{Kind: File, ID: 1, CreatedDay: 1, Text: pages("on 1/14/2026 here")}, {Kind: File, ID: 2, CreatedDay: 2,
			Text: pages("on 11/4/2026 here")},
		{Kind: File, ID: 3, CreatedDay: 3, Text: pages("on 01/14/2026 here")}, {Kind: File, ID: 4, CreatedDay: 4,
			Text: pages("on 11-04-2026 here")},
	})
	for text, want := range map[string]string{
		"Jan 14, 2026": "[f1 f3]", "2026-01-14": "[f1 f3]", "November 4, 2026": "[f2 f4]", "11/04/2026": "[f4 f2]",
	} {
		t.Run(text, func(t *testing.T) {
			a, err := search(context.Background(), x.Index, Options{}.withDefaults(), Query{Text: text, Limit: 9})
			if err != nil || !sameOrder(formatHits(a), want) {
				t.Errorf("search(%q) = %s, %v, want %s: %v", text, formatHits(a), err, want, a.Hits)
			}
		})
	}
}

// The typed notation ranks highest, and any notation of a date ranks higher than its separate
// words.
func TestTypedNotationRanksFirst(t *testing.T) {
	documents := []Document{
		{Kind: File, ID: 1, CreatedDay: 4, Text: pages("March of the year 2026, lot 14")},
		{Kind: File, ID: 2, CreatedDay: 1, Text: pages("dated March 14, 2026 here")},
		{Kind: File, ID: 3, CreatedDay: 2, Text: pages("dated 3/14/2026 here now")},
		{Kind: File, ID: 4, CreatedDay: 3, Text: pages("dated 3/14/26 here and now")},
	}
	x := newTestIndex(t, documents)
	for text, want := range map[string]string{
		"March 14, 2026": "f2 f3 f1", "3/14/2026": "f3 f2", "14 March 2026": "[f3 f2] f1", "3/14/26": "f4 [f2 f3]",
	} {
		t.Run(text, func(t *testing.T) {
			a, err := search(context.Background(), x.Index, Options{}.withDefaults(), Query{Text: text, Limit: 9})
			if err != nil || !sameOrder(formatHits(a), want) {
				t.Errorf("search(%q) = %s, %v, want %s: %v", text, formatHits(a), err, want, a.Hits)
			}
		})
	}
}
