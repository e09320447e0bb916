package extract

import (
	"regexp"
	"strings"
)

// LotReference is a lot of a subdivision.
type LotReference struct {
	Lot, Block  string // Block may be ""
	Subdivision string
}

// String returns the lot as a short legal description: "Lot 12, Block C, Oak Hill".
func (l LotReference) String() string {
	text := "Lot " + l.Lot
	if l.Block != "" {
		text += ", Block " + l.Block
	}
	return text + ", " + l.Subdivision
}

// SubdivisionName returns the name of the subdivision without a final word such as Subdivision or Plat.
func (l LotReference) SubdivisionName() string {
	return strings.Trim(afterSubdivision.ReplaceAllString(l.Subdivision, ""), " .")
}

var (
	lotNumber   = regexp.MustCompile(`(?i)\blots?\s+(?:nos?\.?\s*|#\s*)?(\d+[a-z]?|[a-z])\b`)
	blockNumber = regexp.MustCompile(`(?i)\b(?:block|blk\.?)\s+(?:no\.?\s*)?(\d+[a-z]?|[a-z])\b`)
	// Words before and after the name of a subdivision, and the starts of parts without one.
	beforeSubdivision = regexp.MustCompile(`(?i)^(?:all|part|portion|of|in|and|the|subdivision|plan|plat|\W)+(?:\b|$)`)
	afterSubdivision  = regexp.MustCompile(`(?i)\W+(?:subdivision|subd\.?|s/d|addition|plan|plat)\W*$`)
	noSubdivision     = regexp.MustCompile(`(?i)^(?:\d|unit|section|sec|phase|tract|book|page|bk|pg|map|recorded|as|being|tax|parcel)\b|\bcounty$`)
)

// ReadLot returns the lot that a short legal description names, such as "Lot 12, Block C, Oak Hill" or
// "Oak Hill Subdivision, Lot 12". ok is false if it doesn't name both a lot and a subdivision.
func ReadLot(text string) (l LotReference, ok bool) {
	lot := lotNumber.FindStringSubmatch(text)
	if lot == nil {
		return l, false
	}
	l.Lot = strings.ToUpper(lot[1])
	rest := lotNumber.ReplaceAllString(text, " ")
	if block := blockNumber.FindStringSubmatch(rest); block != nil {
		l.Block, rest = strings.ToUpper(block[1]), blockNumber.ReplaceAllString(rest, " ")
	}
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(",;\n", r) }) {
		part = beforeSubdivision.ReplaceAllString(strings.Join(strings.Fields(part), " "), "")
		l.Subdivision = strings.Trim(part, " .")
		if len(l.SubdivisionName()) >= minSubdivision && !noSubdivision.MatchString(part) && !isLotOrBlock(part) {
			return l, true
		}
	}
	return l, false
}

// isLotOrBlock reports whether a text has the number of a lot or a block.
func isLotOrBlock(text string) bool {
	return lotNumber.MatchString(text) || blockNumber.MatchString(text)
}

// LotReference returns the lot that the fields name. ok is false if they don't name both a lot and a
// subdivision.
func (f Fields) LotReference() (l LotReference, ok bool) {
	l = LotReference{f[Lot].Value(), f[Block].Value(), f[Subdivision].Value()}
	return l, l.Lot != "" && l.Subdivision != ""
}
