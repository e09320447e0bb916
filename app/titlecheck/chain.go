package titlecheck

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/model"
)

// Owners are owners in the chain of title, as the instruments of a runsheet name them.
type Owners struct {
	Names      []string // as recorded
	Short      string   // last names, or the whole names of companies: "Smith and Roe"
	Instrument uint64   // that names them as grantees or, of the first owners, as grantors
	Recorded   string   // its recording date; "" for the first owners
	Apart      bool     // no instrument of the chain is from the owners before to these
}

// link is an instrument that names new owners.
type link struct {
	id       uint64
	grantors []string
	grantees []string
	recorded string
}

// Chain returns the owners that the conveyances of a runsheet name, one after another. A court paper such as a probate
// is in it if a later grantor is named only there.
func Chain(s *Search) (chain []Owners) {
	holders := &holders{}
	var papers []link // court papers since the last conveyance
	for _, i := range s.Instruments {
		l := link{i.ID, i.Grantors, i.Grantees, i.Recorded}
		switch {
		case len(l.grantees) == 0 || !isInChain(i):
			continue
		case i.Type.Category == model.Court:
			papers = append(papers, l)
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
func namesAny(list, names []string) bool {
	known := model.NewPartyNames()
	for _, name := range list {
		known.Add(name)
	}
	return slices.ContainsFunc(names, known.HasAll)
}

// convey adds the owners that an instrument names. If it is not from the holders, its grantors are added, too. A deed
// to holders, such as a corrective deed or that of a possible heir, adds nothing.
func (h *holders) convey(chain []Owners, l link) []Owners {
	known, conveyed := model.NewPartyNames(), model.NewPartyNames()
	for _, name := range h.names {
		known.Add(name)
	}
	if len(chain) > 0 && !slices.ContainsFunc(l.grantees, func(name string) bool { return !known.HasAll(name) }) {
		return chain
	}
	apart := len(chain) > 0 && len(l.grantors) == 0
	if len(chain) == 0 || !h.haveAny(l.grantors) {
		if len(l.grantors) > 0 {
			chain = appendOwners(chain, Owners{Names: l.grantors, Instrument: l.id, Apart: len(chain) > 0})
		}
		h.names = nil
	}
	for _, name := range l.grantors {
		conveyed.Add(name)
	}
	if len(h.names) > maxHolders || !slices.ContainsFunc(l.grantors, func(name string) bool { return !model.IsOfficial(name) }) {
		h.names = nil // an official conveys all shares
	}
	h.names = slices.DeleteFunc(slices.Clone(h.names), conveyed.HasAll) // who keeps a share stays a holder
	h.names = append(h.names, l.grantees...)
	return appendOwners(chain, Owners{Names: l.grantees, Instrument: l.id, Recorded: l.recorded, Apart: apart})
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
