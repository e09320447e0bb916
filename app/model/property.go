package model

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Property is the location of a property. Empty strings mean no value.
type Property struct {
	Address string `json:"address,omitempty"`
	City    string `json:"city,omitempty"`
	County  string `json:"county,omitempty"`
	State   string `json:"state,omitempty"`
}

// FullAddress returns the address in the usual format, such as "12 Elm St, Troy, Rensselaer
// County, NY". Missing parts are omitted.
func (p Property) FullAddress() string {
	return joinNonEmpty(", ", p.Address, p.City, p.countyWithType(), p.State)
}

// countyWithType returns the county, followed by the word that its state uses, such as Parish in
// Louisiana, unless the name already contains one.
func (p Property) countyWithType() string {
	county := Fold(p.County)
	ends := func(kind string) bool { return strings.HasSuffix(county, kind) }
	begins := func(kind string) bool { return strings.HasPrefix(county, kind) }
	if county == "" || slices.ContainsFunc([]string{"county", "parish", "borough", "census area"}, ends) ||
		slices.ContainsFunc([]string{"county of ", "parish of ", "city and borough of ", "municipality of "}, begins) {
		return p.County
	}
	switch Fold(p.State) {
	case "la", "louisiana":
		return p.County + " Parish"
	case "ak", "alaska":
		return p.County + " Borough"
	}
	return p.County + " County"
}

// LookupAddress returns the text used to look up an address: street, city, and state. The county
// is omitted because its spelling varies.
func (p Property) LookupAddress() string {
	if p.Address == "" {
		return ""
	}
	return joinNonEmpty(" ", p.Address, p.City, p.State)
}

// LookupAddresses returns all forms of the address that count as an exact match: the street, the
// street with the city, and LookupAddress.
func (p Property) LookupAddresses() []string {
	return []string{p.Address, joinNonEmpty(" ", p.Address, p.City), p.LookupAddress()}
}

// ShortAddress returns street, city, and state for display.
func (p Property) ShortAddress() string { return joinNonEmpty(", ", p.Address, p.City, p.State) }

// FoldCounty normalizes a county name for comparison in searches. It converts the name to lower
// case and removes accents, punctuation, and words such as "county" and "parish". "St. Tammany
// Parish", "Parish of St. Tammany", and "saint tammany" all become "st tammany".
func FoldCounty(s string) string {
	words := PlainWords(s)
	if len(words) > 2 && isCountyWord(words[0]) && words[1] == "of" {
		words = words[2:]
	}
	if last := len(words) - 1; last > 0 && (isCountyWord(words[last]) || words[last] == "co") {
		words = words[:last]
	}
	for i, w := range words {
		switch w {
		case "saint":
			words[i] = "st"
		case "sainte":
			words[i] = "ste"
		}
	}
	return strings.Join(words, " ")
}

// IsCountyWord reports whether a lower-case word is "county", "parish", or "borough". If open is
// set, the user may still be typing the word, so a prefix of at least two letters counts too.
func IsCountyWord(word string, open bool) bool {
	const minPrefix = 2
	if !open || len(word) < minPrefix {
		return isCountyWord(word)
	}
	return slices.ContainsFunc([]string{"county", "parish", "borough"}, func(full string) bool { return strings.HasPrefix(full, word) })
}

func isCountyWord(word string) bool { return word == "county" || word == "parish" || word == "borough" }

// FoldState normalizes a state name for comparison in searches: "Louisiana" and "LA" become "la".
// Text that isn't the name of a state is normalized but not abbreviated.
func FoldState(s string) string {
	plain := strings.Join(PlainWords(s), " ")
	if short, known := states[plain]; known {
		return short
	}
	return plain
}

// PlainWords returns the words of a text in lower case, without accents and punctuation.
func PlainWords(s string) []string {
	s = fastFold(s)
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		s = norm.NFD.String(s)
	}
	return strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r) || strings.ContainsRune("'’‘ʼʻ`", r):
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		}
		return ' '
	}, s))
}

// states maps US states and territories to their postal abbreviations (USPS Publication 28,
// appendix B).
var states = map[string]string{
	"alabama": "al", "alaska": "ak", "arizona": "az", "arkansas": "ar", "california": "ca", "colorado": "co", "connecticut": "ct",
	"delaware": "de", "district of columbia": "dc", "florida": "fl", "georgia": "ga", "hawaii": "hi", "idaho": "id", "illinois": "il",
	"indiana": "in", "iowa": "ia", "kansas": "ks", "kentucky": "ky", "louisiana": "la", "maine": "me", "maryland": "md",
	"massachusetts": "ma", "michigan": "mi", "minnesota": "mn", "mississippi": "ms", "missouri": "mo", "montana": "mt", "nebraska": "ne",
	"nevada": "nv", "new hampshire": "nh", "new jersey": "nj", "new mexico": "nm", "new york": "ny", "north carolina": "nc",
	"north dakota": "nd", "ohio": "oh", "oklahoma": "ok", "oregon": "or", "pennsylvania": "pa", "rhode island": "ri",
	"south carolina": "sc", "south dakota": "sd", "tennessee": "tn", "texas": "tx", "utah": "ut", "vermont": "vt", "virginia": "va",
	"washington": "wa", "west virginia": "wv", "wisconsin": "wi", "wyoming": "wy",
	"american samoa": "as", "guam": "gu", "northern mariana islands": "mp", "puerto rico": "pr", "virgin islands": "vi",
}

// PlaceDifference is a county, state, or parcel of an instrument that differs from that of its abstract.
type PlaceDifference struct {
	Field      string // of the instrument: "county", "state", or "parcels"
	Instrument string // what the instrument names: "Polk County" or "parcel 12-3"
	Abstract   string // the same for the abstract
	State      string // of an instrument in another county: it can be the abstract's, from before the county changed
}

// String returns what follows the name of the instrument, such as "names Polk County; the abstract is for Story County".
func (d PlaceDifference) String() string {
	text := "names " + d.Instrument + "; the abstract is for " + d.Abstract
	if d.State != "" {
		text += ". Check the state: " + d.State
	}
	return text
}

// IsInOtherCounty reports whether an instrument names another county than its abstract.
func (i Instrument) IsInOtherCounty(a Abstract) bool { return differ(i.County, a.County, FoldCounty) }

// differ reports whether two places are stated and different.
func differ(x, y string, fold func(string) string) bool {
	return fold(x) != "" && fold(y) != "" && fold(x) != fold(y)
}

// PlaceDifferences returns where an instrument names another county, state, or parcel than its abstract. A value that one
// of them doesn't state is not a difference, and neither is another spelling.
func (i Instrument) PlaceDifferences(a Abstract) (list []PlaceDifference) {
	otherState := differ(i.State, a.State, FoldState)
	if i.IsInOtherCounty(a) {
		here, there := Property{County: i.County, State: i.State}, Property{County: a.County, State: a.State}
		names := PlaceDifference{Field: "county", Instrument: here.countyWithType(), Abstract: there.countyWithType()}
		if otherState {
			names.Instrument, names.Abstract = names.Instrument+", "+i.State, names.Abstract+", "+a.State
		} else {
			names.State = i.State
		}
		list = append(list, names)
	} else if otherState {
		list = append(list, PlaceDifference{Field: "state", Instrument: i.State, Abstract: a.State})
	}
	known := a.ParcelIDs()
	if len(known) > 0 && len(i.Parcels) > 0 && !slices.ContainsFunc(i.Parcels, func(p string) bool {
		return slices.ContainsFunc(known, func(id string) bool { return NormalizeNumber(p) == NormalizeNumber(id) })
	}) {
		list = append(list, PlaceDifference{Field: "parcels", Instrument: "parcel " + strings.Join(i.Parcels, ", "),
			Abstract: "parcel " + a.ParcelID()})
	}
	return list
}

// ParcelIDs returns the numbers that the Parcel ID consists of.
func (a Abstract) ParcelIDs() (list []string) {
	for number := range strings.FieldsFuncSeq(a.ParcelID(), func(r rune) bool { return strings.ContainsRune(",;&\n", r) }) {
		if NormalizeNumber(number) != "" {
			list = append(list, strings.TrimSpace(number))
		}
	}
	return list
}
