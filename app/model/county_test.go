package model

import "testing"

func TestFoldCounty(t *testing.T) {
	for _, row := range []struct{ name, a, b string }{
		{"the word at the end", "St. Tammany Parish", "St. Tammany"},
		{"the word at the start", "County of Wexcombe", "wexcombe"},
		{"saint", "Saint Tammany", "st tammany parish"},
		{"apostrophes", "Prince George’s County", "PRINCE GEORGES"},
		{"another apostrophe", "Hawaiʻi County", "hawaii"},
		{"accents", "Doña Ana Co.", "Dona Ana"},
		{"boroughs", "Matanuska-Susitna Borough", "matanuska susitna"},
		{"the word alone", "County", "COUNTY"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if a, b := FoldCounty(row.a), FoldCounty(row.b); a != b || a == "" {
				t.Errorf("FoldCounty(%q) = %q, FoldCounty(%q) = %q, want them equal", row.a, a, row.b, b)
			}
		})
	}
	for _, row := range [][2]string{{"Orleans", "New Orleans"}, {"St. Tammany", "Tammany"}, {"Park County", "Parish"}, {"Of", ""}} {
		if FoldCounty(row[0]) == FoldCounty(row[1]) {
			t.Errorf("FoldCounty(%q) = FoldCounty(%q) = %q, want them different", row[0], row[1], FoldCounty(row[0]))
		}
	}
}

func TestFoldState(t *testing.T) {
	for from, want := range map[string]string{
		"LA": "la", " Louisiana ": "la", "NEW YORK": "ny", "N.Y.": "n y", "West Virginia": "wv", "Ontario": "ontario", "": "",
	} {
		if got := FoldState(from); got != want {
			t.Errorf("FoldState(%q) = %q, want %q", from, got, want)
		}
	}
}
