package query

import (
	"context"
	"testing"
)

// countyDocs returns documents whose county names do or do not include the word County or Parish.
func countyDocs() []Document {
	return []Document{
		{Kind: Abstract, ID: 1, CreatedDay: 1, County: "St. Tammany", State: "LA", Names: []string{"Boudreaux", "St. Tammany"},
			Fields: []string{"LA"}},
		{Kind: Abstract, ID: 2, CreatedDay: 2, County: "St. Tammany Parish", State: "Louisiana",
			Names: []string{"Landry", "St. Tammany Parish"}, Fields: []string{"Louisiana"}},
		{Kind: Abstract, ID: 3, CreatedDay: 3, County: "Wexcombe", State: "OH", Names: []string{"Boudreaux", "Wexcombe"}, Fields: []string{"OH"}},
		{Kind: Order, ID: 4, CreatedDay: 4, County: "East Baton Rouge", State: "LA", Names: []string{"Tammany Wexcombe", "East Baton Rouge"},
			Fields: []string{"LA"}},
		{Kind: File, ID: 5, CreatedDay: 5, County: "Wexcombe", State: "OH", Names: []string{"deed.pdf"}, Text: pages("clerk of Wexcombe")},
		{Kind: File, ID: 6, CreatedDay: 6, County: "Wexcombe", State: "OH", Names: []string{"plat.pdf"}, Text: pages("clerk of the county")},
		{Kind: File, ID: 7, CreatedDay: 7, County: "Park", State: "WY", Names: []string{"map.pdf"},
			Text: pages("Mary Wexcombe of East Baton, North Dakota")},
	}
}

func TestCounties(t *testing.T) {
	n := newNaiveEngine(t, countyDocs())
	for _, row := range []struct {
		name  string
		query Query
		want  string
	}{
		{"with \"county\"", Query{Text: "Wexcombe County"}, "[a3 f5]"},
		{"with \"parish\"", Query{Text: "wexcombe parish "}, "[a3 f5]"},
		{"with a prefix of \"county\"", Query{Text: "wexcombe cou"}, "[a3 f5]"},
		{"\"county\" first", Query{Text: "county of wexcombe "}, "[a3 f5]"},
		{"name of two words", Query{Text: "St. Tammany Parish"}, "[a1 a2]"},
		{"name of three words", Query{Text: "East Baton Rouge Parish "}, "[o4]"},
		{"after a name", Query{Text: "Boudreaux Wexcombe County "}, "[a3]"},
		{"before a name", Query{Text: "St. Tammany Parish Boudreaux"}, "[a1]"},
		{"\"county\" only", Query{Text: "county "}, "f6"},
		{"in quotes", Query{Text: `"wexcombe county"`}, ""},
		{"unknown county", Query{Text: "boudreaux county "}, ""},
		{"state name", Query{Text: "landry louisiana "}, "a2"},
		{"state name for an abbreviation", Query{Text: "tammany louisiana "}, "[a1 o4 a2]"},
		{"state name of two words", Query{Text: "north dakota "}, "f7"},
		{"filter without \"county\"", Query{Text: "tammany ", County: "St. Tammany"}, "[a1 a2]"},
		{"filter with \"parish\"", Query{Text: "tammany ", County: "saint tammany parish"}, "[a1 a2]"},
		{"filter by another county", Query{Text: "tammany ", County: "Tammany"}, ""},
		{"filter by state name", Query{Text: "tammany ", State: "Louisiana"}, "[a1 a2 o4]"},
		{"filter by state abbreviation", Query{Text: "tammany ", State: "LA"}, "[a1 a2 o4]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.query.Limit = 20
			a, err := search(context.Background(), n, Options{}.withDefaults(), row.query)
			if got := formatHits(a); err != nil || !sameOrder(got, row.want) {
				t.Errorf("search(%q) = %s, %v, want %s", row.query.Text, got, err, row.want)
			}
			m := NewHighlighter(row.query.Text)
			for _, h := range a.Hits {
				d := countyDocs()[h.ID-1]
				texts := append(d.Names, d.Fields...)
				if d.Text != nil {
					_ = d.Text(func(page string) error { texts = append(texts, page); return nil })
				}
				if !highlightsAny(m, texts) {
					t.Errorf("query %q highlights nothing in %q, want a match", row.query.Text, texts)
				}
			}
		})
	}
}
