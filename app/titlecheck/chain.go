package titlecheck

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Owners are parties in the chain of title, as the instruments of a runsheet name them.
type Owners struct {
	Names      []string // as recorded, with those of earlier owners who didn't convey their share
	Grantees   []string // the new ones of them; nil for the grantors of the first conveyance
	Short      string   // last names, or the whole names of companies: "Smith and Roe"
	Instrument uint64   // that names them as grantees or, of the first ones, as grantors
	Recorded   string   // its recording date; "" for grantors
	Apart      bool     // no instrument of the chain is from the owners before to these
}

// link is an instrument that names new owners.
type link struct {
	id       uint64
	grantors []string
	grantees []string
	recorded string
}

// Chain returns the parties that the conveyances of a runsheet name, one after another. A court paper such as a probate,
// or an affidavit of heirship, is in it if a later grantor is named only there.
func Chain(s *Search) (chain []Owners) {
	holders := &holders{}
	var papers []link // court and supporting papers since the last conveyance
	for _, i := range s.Instruments {
		l := link{i.ID, i.Grantors, i.Grantees, i.Recorded}
		switch {
		case len(l.grantees) == 0:
			continue
		case i.Type.Category == model.Court, i.Type.Category == model.Support:
			papers = append(papers, l)
			continue
		case i.Type.Category != model.Conveyance:
			continue
		}
		for _, paper := range papers {
			if len(chain) > 0 && !holders.haveAny(l.grantors) && namesAny(paper.grantees, l.grantors) && holders.haveAny(paper.grantors) {
				chain = holders.convey(chain, paper)
			}
		}
		papers = nil
		chain = holders.convey(chain, l)
	}
	return chain
}

// maxHolders is the maximum number of holders of shares that are compared. It limits the time for a runsheet of thousands of
// deeds.
const maxHolders = 20

// holders are the names of the owners at a place in the chain.
type holders struct{ names []string }

// haveAny reports whether one of the names is that of a holder, or a party that acts by office.
func (h *holders) haveAny(names []string) bool {
	return slices.ContainsFunc(names, model.IsOfficial) || namesAny(h.names, names)
}

// namesAny reports whether one of the names is in a list.
func namesAny(list, names []string) bool { return slices.ContainsFunc(names, in(list)) }

// in returns a function that reports whether a name is in a list.
func in(list []string) func(string) bool {
	known := model.NewPartyNames()
	for _, name := range list {
		known.Add(name)
	}
	return known.HasAll
}

// convey adds the owners after an instrument. If it is not from a holder, its grantors are added, too. A deed to the holders
// from someone else, such as a corrective deed, adds nothing.
func (h *holders) convey(chain []Owners, l link) []Owners {
	isHolder := in(h.names)
	isNew := func(name string) bool { return !isHolder(name) }
	if len(chain) > 0 && !slices.ContainsFunc(l.grantees, isNew) && !slices.ContainsFunc(l.grantors, isHolder) {
		return chain
	}
	apart := len(chain) > 0 && len(l.grantors) == 0
	switch {
	case len(chain) == 0 || !h.haveAny(l.grantors):
		if len(l.grantors) > 0 {
			chain = appendOwners(chain, Owners{Names: l.grantors, Instrument: l.id, Apart: len(chain) > 0})
		}
		h.names = nil
	case len(h.names) > maxHolders, slices.ContainsFunc(l.grantors, model.IsOfficial): // an official conveys all shares
		h.names = nil
	}
	// Holders who didn't convey stay.
	h.names = slices.DeleteFunc(slices.DeleteFunc(slices.Clone(h.names), in(l.grantors)), in(l.grantees))
	h.names = append(h.names, l.grantees...)
	return appendOwners(chain, Owners{Names: h.names, Grantees: l.grantees, Instrument: l.id, Recorded: l.recorded, Apart: apart})
}

// appendOwners adds owners with their short names. Owners with the same last names, one after the other, have their whole
// names.
func appendOwners(chain []Owners, o Owners) []Owners {
	o.Short = joinShort(o.Names, shortName)
	if len(chain) > 0 {
		before := &chain[len(chain)-1]
		if o.Short == joinShort(before.Names, shortName) {
			before.Short, o.Short = joinShort(before.Names, strings.TrimSpace), joinShort(o.Names, strings.TrimSpace)
		}
	}
	return append(chain, o)
}

// joinShort returns up to two different names: "Smith", "Smith and Roe", or "Smith and 2 others".
func joinShort(names []string, short func(string) string) string {
	var list []string
	for _, name := range names {
		if text := short(name); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	switch len(list) {
	case 0:
		return ""
	case 1, 2:
		return strings.Join(list, " and ")
	}
	return list[0] + " and " + strconv.Itoa(len(list)-1) + " others"
}

// Words of names: of parties that aren't one person, and those that follow a last name.
var (
	companyWords = []string{"inc", "llc", "lp", "llp", "ltd", "co", "corp", "corporation", "company", "bank", "trust", "trustee",
		"association", "county", "city", "town", "township", "state", "church", "partnership", "fund", "authority", "district", "estate",
		"the", "of", "for", "homes", "properties", "group", "services", "holdings", "investments", "development", "builders",
		"union", "society", "foundation", "university", "school", "department", "federal", "national"}
	suffixWords = []string{"jr", "sr", "ii", "iii", "iv"}
)

// isOneOf reports whether a word of a name is in a list.
func isOneOf(list []string, word string) bool {
	return slices.Contains(list, strings.ToLower(strings.Trim(word, ".,")))
}

// shortName returns the last name of a person or of several: "Smith" for "John and Mary Smith, husband and wife", and
// "Smith and Roe" for "John Smith and Ann Roe". It returns the whole name if it isn't clear which word that is: of a
// company, and in capital letters, where an index has the last name first.
func shortName(name string) string {
	first, rest, comma := strings.Cut(strings.TrimSpace(name), ",")
	isWhole := func(word string) bool { return isOneOf(companyWords, word) || strings.ContainsAny(word, "0123456789/") }
	switch {
	case slices.ContainsFunc(strings.Fields(name), isWhole), model.IsOfficial(name), strings.IndexFunc(name, unicode.IsLower) < 0:
		return strings.TrimSpace(name)
	case comma && len(strings.Fields(first)) == 1 && !isOneOf(suffixWords, rest):
		return first // "Smith, John"
	}
	var last []string
	for person := range strings.SplitSeq(strings.ReplaceAll(first, " & ", " and "), " and ") {
		words := strings.Fields(person)
		if end := len(words) - 1; end > 0 && isOneOf(suffixWords, words[end]) {
			words = words[:end]
		}
		if len(words) < 2 {
			continue // the first name of "John and Mary Smith"
		}
		word := words[len(words)-1]
		if utf8.RuneCountInString(strings.Trim(word, ".")) < 2 { // "Smith John A."
			return strings.TrimSpace(name)
		}
		if !slices.Contains(last, word) {
			last = append(last, word)
		}
	}
	if len(last) == 0 {
		return strings.TrimSpace(name)
	}
	return strings.Join(last, " and ")
}
