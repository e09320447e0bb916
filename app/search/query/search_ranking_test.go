package query

import (
	"context"
	"strings"
	"testing"
)

// bookPageDocs returns documents with book and page references and with similar values.
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
		text, first, all string // first: the top hits; all: all hits; each in any order
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
		{text: "map book 12 page 3", first: "o1", all: "o1", relaxed: true}, // the parts match only as separate words
	} {
		t.Run(row.text, func(t *testing.T) {
			for _, engine := range []searcher{n, x.Index} {
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

// TestRanking checks the order of all hits.
func TestRanking(t *testing.T) {
	documents := []Document{
		{Kind: Order, ID: 1, CreatedDay: 1, Numbers: []string{"23-001234"}, Fields: []string{"2026-12-23"}},
		{Kind: Abstract, ID: 1, CreatedDay: 2, Numbers: []string{"23-001235"}, Names: []string{"Claude Hébert", "O'Neal"}},
		{Kind: File, ID: 1, CreatedDay: 3, Numbers: []string{"Bk2300-Pg12"}, Names: []string{"23_Deed_Bk2300-Pg12 Hebert.pdf"}},
		{Kind: Order, ID: 2, CreatedDay: 4, Numbers: []string{"2300-77"}, Names: []string{"Ann Hebert", "ONeal"}, Fields: []string{"2027-01-23"}},
		{Kind: File, ID: 2, CreatedDay: 5, Names: []string{"Hebert to ONeal.pdf"}, Text: pages("of 23 arpents")},
		{Kind: Abstract, ID: 2, CreatedDay: 6, Numbers: []string{"230-0123"}, Names: []string{"Hebert"}, Fields: []string{"2025-11-23"}},
		{Kind: Order, ID: 3, CreatedDay: 7, Names: []string{"Zoe Hebert"}, Fields: []string{"2026-09-23"}},
		{Kind: Abstract, ID: 3, CreatedDay: 8, Numbers: []string{"23-001-234-000-77"}},
	}
	n, x := newNaiveEngine(t, documents), newTestIndex(t, documents)
	for _, row := range []struct{ name, text, want string }{
		{"exact notation before digits", "23-00", "a3 a1 o1 a2 o2 f1"},
		{"digits only", "2300", "o2 f1 a3 a2 a1 o1"},
		{"longer prefix", "23-0012", "a1 o1 a3 a2 f1"},
		{"prefix longer than the indexed ones", "23-001-234-000", "a3"},
		{"prefix of numbers before days", "23", "a3 a2 a1 o2 o1 f1 o3 f2"},
		{"word and prefix of two digits", "hebert 23", "a2 a1 o3 o2 f1 f2"},
		{"abstracts, orders, documents", "hebert ", "a2 a1 o3 o2 f2 f1"},
		{"prefix of a name", "heber", "a2 a1 o3 o2 f2 f1"},
		{"apostrophe", "O'Neal", "a1 o2 f2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, engine := range []searcher{n, x.Index} {
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
