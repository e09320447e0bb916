package model

import (
	"strings"
	"testing"
)

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

func TestPlaceDifferences(t *testing.T) {
	story := Abstract{Property: Property{County: "Story", State: "Iowa"}, TaxMap: "47-0312-B-119.04; 12-7"}
	for _, c := range []struct {
		name string
		of   Instrument
		want string
	}{
		{"nothing stated", Instrument{}, ""},
		{"other spelling", Instrument{County: "STORY COUNTY", State: "IA", Parcels: []string{"47 0312 b 119 04"}}, ""},
		{"second parcel", Instrument{Parcels: []string{"99-1", "12-7"}}, ""},
		{"other county", Instrument{County: "Polk", State: "IA"}, "names Polk County; the abstract is for Story County. Check the state: IA"},
		{"other state", Instrument{County: "Story", State: "Kansas"}, "names Kansas; the abstract is for Iowa"},
		{"other county and state", Instrument{County: "Orleans", State: "Louisiana"},
			"names Orleans Parish, Louisiana; the abstract is for Story County, Iowa"},
		{"other parcel", Instrument{County: "Story", Parcels: []string{"47-0312-B-119.05"}},
			"names parcel 47-0312-B-119.05; the abstract is for parcel 47-0312-B-119.04; 12-7"},
	} {
		var got []string
		for _, d := range c.of.PlaceDifferences(story) {
			got = append(got, d.String())
		}
		if text := strings.Join(got, " / "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	if list := (Instrument{County: "Polk", Parcels: []string{"1"}}).PlaceDifferences(Abstract{}); len(list) > 0 {
		t.Errorf("differences from an abstract that states nothing: %v", list)
	}
}

// Louisiana has parishes and Alaska has boroughs.
func TestFullAddressCountyType(t *testing.T) {
	for want, p := range map[string]Property{
		"Rensselaer County, NY":         {County: "Rensselaer", State: "NY"},
		"Terrebonne Parish, LA":         {County: "Terrebonne", State: "LA"},
		"Orleans Parish, Louisiana":     {County: "Orleans", State: "Louisiana"},
		"St. Tammany Parish, la":        {County: "St. Tammany Parish", State: "la"},
		"Kenai Peninsula Borough, AK":   {County: "Kenai Peninsula", State: "AK"},
		"City and Borough of Juneau":    {County: "City and Borough of Juneau"},
		"Nome Census Area, AK":          {County: "Nome Census Area", State: "AK"},
		"Municipality of Anchorage, AK": {County: "Municipality of Anchorage", State: "AK"},
		"Caddo County, OK":              {County: "Caddo", State: "OK"},
		"LA":                            {State: "LA"},
		"":                              {},
	} {
		if got := p.FullAddress(); got != want {
			t.Errorf("FullAddress of %+v = %q, want %q", p, got, want)
		}
	}
}
