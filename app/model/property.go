package model

import (
	"slices"
	"strings"
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
