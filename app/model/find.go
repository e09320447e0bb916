package model

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// How records are looked up by what people call them. Plain and Squeezed are part of
// the keys of an index (app/store): a change of either is a new schema.

// NormalizeText is how lines are sorted and looked up: folded, and each run of anything but
// letters and digits one blank, none at the ends.
func NormalizeText(s string) string { return bare(s, " ") }

// QuoteMarks are the marks that quote words to be looked for one behind the other.
const QuoteMarks = `"“”„‟«»`

// NormalizeNumber is how numbers of files and parcels are: Plain without its blanks, so that
// 12-34-567 and 1234567 are one.
func NormalizeNumber(s string) string { return bare(s, "") }

// bare keeps the letters and digits of the folded text, with gap for what was between
// them.
func bare(s, gap string) string {
	var b strings.Builder
	b.Grow(len(s))
	between := false
	for _, r := range folded(s) {
		switch {
		case r < 0x80 && r != '\'' && (r < '0' || r > '9') && (r < 'a' || r > 'z'), r >= 0x80 && !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number):
			between = true
		case r == '\'': // O'Neil and ONeil are one
		default:
			if between && b.Len() > 0 {
				b.WriteString(gap)
			}
			between = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// folded is Fold without its price where text is plain.
func folded(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return Fold(s)
		}
	}
	return strings.ToLower(s)
}

// The custom fields by which records are known beside their own (WORKSPACE.md).
const (
	keyFileNumber = "file_number"
	keyParcel     = "parcel_id"
)

// text is the value of a field that is a text, or a number as it was sent; "" where
// there is none.
func (v Values) text(key string) string {
	raw := v[key]
	if s, ok := stringOf(raw); ok {
		return s
	}
	var n json.Number
	if len(raw) > 0 && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// FileNumber is the number of the firm's own file; "" where the abstract has none.
func (a Abstract) FileNumber() string { return a.Custom.text(keyFileNumber) }

// ParcelID is the tax map or parcel number; "" where the abstract has none.
func (a Abstract) ParcelID() string {
	if a.TaxMap != "" {
		return a.TaxMap
	}
	return a.Custom.text(keyParcel)
}

// ParcelID is the parcel number that came with the order; "" where it has none.
func (o Order) ParcelID() string { return o.Custom.text(keyParcel) }

// FullAddress is where the parcel lies as people write it, "12 Elm St, Troy, Rensselaer
// County, NY", without what is not known.
func (p Property) FullAddress() string {
	return joined(", ", p.Address, p.City, p.countyNamed(), p.State)
}

// countyNamed is the county with what its state calls one, unless it says so itself.
func (p Property) countyNamed() string {
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

// LookupAddress is what an address is looked up by: with its city and state, without the
// county, which stands differently with everybody.
func (p Property) LookupAddress() string {
	if p.Address == "" {
		return ""
	}
	return joined(" ", p.Address, p.City, p.State)
}

// ShortAddress is Street with commas, to be read.
func (p Property) ShortAddress() string { return joined(", ", p.Address, p.City, p.State) }

// LookupAddresses are the shorter forms of Street that people take for the whole.
func (p Property) LookupAddresses() []string {
	return []string{p.Address, joined(" ", p.Address, p.City), p.LookupAddress()}
}

func joined(by string, parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, by)
}

// Heading is what people know an abstract by: its file number, else where the parcel
// lies, else the parcel's number; "" where it has none of them.
func (a Abstract) Heading() string {
	if n := a.FileNumber(); n != "" {
		return n
	}
	if line := a.FullAddress(); line != "" {
		return line
	}
	return a.ParcelID()
}

// Subheading is the line below its Heading: where the parcel lies and its number, without
// what the heading says.
func (a Abstract) Subheading() string {
	line, parcel, heading := a.FullAddress(), a.ParcelID(), a.Heading()
	if line == heading {
		line = ""
	}
	if parcel == heading {
		parcel = ""
	}
	return joined(" · ", line, parcel)
}

// Subheading is the line below an order's number: where the parcel lies, and its number.
func (o Order) Subheading() string { return joined(" · ", o.FullAddress(), o.ParcelID()) }
