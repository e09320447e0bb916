package model

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// RunsheetKey contains the fields of an instrument by which a runsheet is sorted.
type RunsheetKey struct {
	ID                                                uint64
	Recorded, RecordedTime, Book, Page, Number, Dated string
}

// RunsheetKey returns the key of an instrument.
func (i *Instrument) RunsheetKey() RunsheetKey {
	return RunsheetKey{i.ID, i.Recorded, i.RecordedTime, i.Book, i.Page, i.Number, i.Dated}
}

// SortRunsheet returns the instruments in the sequence of the runsheet; see arrangeKeys.
func SortRunsheet(list []Instrument, sequence []uint64) []Instrument {
	sorted, _ := ArrangeRunsheet(list, sequence)
	return sorted
}

// ArrangeRunsheet returns the instruments in the sequence of the runsheet, and which are unplaced; see
// arrangeKeys.
func ArrangeRunsheet(list []Instrument, sequence []uint64) (sorted []Instrument, unplaced map[uint64]bool) {
	keys, index := make([]RunsheetKey, len(list)), make(map[uint64]int, len(list))
	for n := range list {
		keys[n], index[list[n].ID] = list[n].RunsheetKey(), n
	}
	ids, unplaced := arrangeKeys(keys, sequence)
	for _, id := range ids {
		sorted = append(sorted, list[index[id]])
	}
	return sorted, unplaced
}

// SortKeys returns the IDs of instruments in the sequence of the runsheet; see arrangeKeys.
func SortKeys(keys []RunsheetKey, sequence []uint64) []uint64 {
	sorted, _ := arrangeKeys(keys, sequence)
	return sorted
}

// arrangeKeys returns the IDs of instruments in the sequence of the runsheet. Instruments that are in
// sequence, which is the one that a person chose, keep it. The others are sorted by recording date or, if
// they have none, by their own date, then by book and page, then by number. Each of them goes to the place
// between those in sequence where its date fits. If that isn't a single place, it comes after all of them
// and is in unplaced. Instruments without a date come last.
func arrangeKeys(keys []RunsheetKey, sequence []uint64) (sorted []uint64, unplaced map[uint64]bool) {
	place := make(map[uint64]int, len(sequence))
	for n, id := range sequence {
		place[id] = n
	}
	var placed, others []*RunsheetKey
	for n := range keys {
		if _, ok := place[keys[n].ID]; ok {
			placed = append(placed, &keys[n])
		} else {
			others = append(others, &keys[n])
		}
	}
	slices.SortFunc(placed, func(a, b *RunsheetKey) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	slices.SortFunc(others, compareRecorded)
	fit := newFitting(placed)
	at := make([][]uint64, len(placed)+1) // the others, by the number of placed ones before them
	var last []uint64
	unplaced = map[uint64]bool{}
	for _, other := range others {
		n, fits := fit.place(other)
		switch {
		case other.date() == "":
			last = append(last, other.ID)
		case !fits:
			unplaced[other.ID] = true
			last = append(last, other.ID)
		default:
			at[n] = append(at[n], other.ID)
		}
	}
	sorted = make([]uint64, 0, len(keys))
	for n, key := range placed {
		sorted = append(append(sorted, at[n]...), key.ID)
	}
	return append(append(sorted, at[len(placed)]...), last...), unplaced
}

// fitting finds the places in a chosen sequence where a date fits.
type fitting struct {
	dated []*RunsheetKey // the instruments with a date, by date
	last  []int          // by n: the last place in the sequence among the first n of dated
	first []int          // the first place in the sequence among the rest
}

func newFitting(placed []*RunsheetKey) (f fitting) {
	places := map[*RunsheetKey]int{}
	for n, key := range placed {
		if places[key] = n; key.date() != "" {
			f.dated = append(f.dated, key)
		}
	}
	slices.SortFunc(f.dated, compareRecorded)
	f.last, f.first = make([]int, len(f.dated)+1), make([]int, len(f.dated)+1)
	f.last[0], f.first[len(f.dated)] = -1, len(placed)
	for n, key := range f.dated {
		f.last[n+1] = max(f.last[n], places[key])
	}
	for n, key := range slices.Backward(f.dated) {
		f.first[n] = min(f.first[n+1], places[key])
	}
	return f
}

// place returns how many instruments of the sequence come before another one. fits is false if some that
// are earlier come after some that are later.
func (f fitting) place(other *RunsheetKey) (before int, fits bool) {
	earlier, _ := slices.BinarySearchFunc(f.dated, other, compareRecorded)
	switch last, first := f.last[earlier], f.first[earlier]; {
	case len(f.dated) == 0:
		return 0, true
	case last < 0:
		return first, true
	default:
		return last + 1, last < first
	}
}

// ChosenSequence returns what is stored of the sequence that a person chose by moving an instrument, or all of
// them if moved is 0. It is empty if the dates result in the same one. Undated instruments at the end are left
// out unless one of them was moved, so that they take their places when their dates are known.
func ChosenSequence(keys []RunsheetKey, ids []uint64, moved uint64) []uint64 {
	if slices.Equal(SortKeys(keys, nil), ids) {
		return nil
	}
	byID := make(map[uint64]*RunsheetKey, len(keys))
	for n := range keys {
		byID[keys[n].ID] = &keys[n]
	}
	end := len(ids)
	for end > 0 {
		key := byID[ids[end-1]]
		if key == nil || key.date() != "" || key.ID == moved || end < len(ids) && compareRecorded(key, byID[ids[end]]) > 0 {
			break
		}
		end--
	}
	return slices.Clone(ids[:end])
}

// date returns the date by which the instrument is sorted, or "".
func (k *RunsheetKey) date() string { return cmp.Or(k.Recorded, k.Dated) }

// compareRecorded compares two keys by recording.
func compareRecorded(a, b *RunsheetKey) int {
	last := func(s string) string { return cmp.Or(s, "\U0010FFFF") } // missing values come last
	return cmp.Or(
		cmp.Compare(last(a.date()), last(b.date())),
		cmp.Compare(last(a.RecordedTime), last(b.RecordedTime)),
		compareNumbers(last(a.Book), last(b.Book)), compareNumbers(last(a.Page), last(b.Page)),
		compareNumbers(last(a.Number), last(b.Number)),
		cmp.Compare(last(a.Dated), last(b.Dated)), cmp.Compare(a.ID, b.ID))
}

// compareNumbers compares two texts so that runs of digits count as numbers: "9" before "10".
func compareNumbers(a, b string) int {
	for a != "" && b != "" {
		partA, digitsA := leadingRun(a)
		partB, digitsB := leadingRun(b)
		a, b = a[len(partA):], b[len(partB):]
		if digitsA && digitsB {
			partA, partB = strings.TrimLeft(partA, "0"), strings.TrimLeft(partB, "0")
			if c := cmp.Compare(len(partA), len(partB)); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(partA, partB); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// leadingRun returns the longest prefix that has only digits or no digits.
func leadingRun(s string) (run string, digits bool) {
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	digits = isDigit(rune(s[0]))
	end := strings.IndexFunc(s, func(r rune) bool { return isDigit(r) != digits })
	if end < 0 {
		end = len(s)
	}
	return s[:end], digits
}

// Gap is a break in the chain of title: Name conveyed the property but never received it in an
// instrument further up in the runsheet.
type Gap struct {
	After uint64 // the instrument of the chain before the gap
	Name  string // the grantor, as recorded
}

// Gaps returns the breaks in the chain of title of a sorted runsheet. The first conveyance starts
// the chain, or a court paper before it with grantees, such as a probate. After that, each grantor
// of a conveyance must have been a grantee in a conveyance, a court paper, or an affidavit or other
// supporting paper before it. An instrument without a type may
// be a deed, so its grantees count too. Officials, such as a sheriff, convey property that was never
// theirs and are not checked.
func Gaps(runsheet []Instrument, types DocumentTypes) []Gap {
	var gaps []Gap
	received := NewPartyNames()
	last := uint64(0)
	for _, i := range runsheet {
		t, _ := types.ByID(i.TypeID)
		if i.TypeID != 0 && t.Category != Conveyance && t.Category != Court && t.Category != Support {
			continue
		}
		if starts := last == 0 && t.Category == Court && len(i.Grantees) > 0; starts || t.Category == Conveyance {
			for _, grantor := range i.Grantors {
				name := parsePartyName(grantor)
				switch {
				case last == 0:
					received.add(name) // the chain starts with these owners
				case !name.official && !received.HasAll(grantor):
					gaps = append(gaps, Gap{last, grantor})
				}
			}
			last = i.ID
		}
		for _, grantee := range i.Grantees {
			received.add(parsePartyName(grantee))
		}
	}
	return gaps
}

// partyNames is a set of names of parties, such as of those who received title. Names match in spite of
// initials, suffixes, and words such as "et ux".
type partyNames struct {
	list   []partyName
	byWord map[string][]int // indexes in list of the names with a word
	known  map[string]bool  // names in list, as returned by partyName.key
	work   int              // words that were compared
}

// NewPartyNames returns an empty set.
func NewPartyNames() *partyNames {
	return &partyNames{byWord: map[string][]int{}, known: map[string]bool{}}
}

// Add adds a name.
func (p *partyNames) Add(name string) { p.add(parsePartyName(name)) }

// HasAll reports whether a name in the set matches. If the name lists several parties, as "Ann Lee and Bo Lee" does,
// the names that match it must have all of its words between them.
func (p *partyNames) HasAll(name string) bool {
	parsed := parsePartyName(name)
	if p.known[parsed.key()] || !strings.Contains(name, "&") && !slices.Contains(PlainWords(name), "and") {
		return p.has(parsed)
	}
	missing := slices.DeleteFunc(parsed.distinctWords(), func(word string) bool {
		return utf8.RuneCountInString(word) == 1 || tenancyWords[word]
	})
	found := false
	for match := range p.matching(parsed) {
		found = true
		missing = slices.DeleteFunc(missing, func(word string) bool {
			return slices.ContainsFunc(match.words, func(other string) bool {
				return other == word || isInitialOf(other, word) && !slices.Contains(parsed.words, other)
			})
		})
	}
	return found && len(missing) == 0
}

// severalParties separates the parties in a name.
var severalParties = regexp.MustCompile(`(?i)\s+(?:and|&)\s+`)

// Missing returns what of a name isn't in the set: nothing, the name, or, if it lists several parties with their full
// names and one of them is in the set, the others.
func (p *partyNames) Missing(name string) (missing []string) {
	if p.HasAll(name) {
		return nil
	}
	found := false
	for _, party := range severalParties.Split(name, -1) {
		switch party = withoutTenancy(party); {
		case party == "":
		case len(parsePartyName(party).words) < 2:
			return []string{name}
		case p.HasAll(party):
			found = true
		default:
			missing = append(missing, party)
		}
	}
	if !found {
		return []string{name}
	}
	return missing
}

// withoutTenancy returns a party without how it holds title: "Eve Roe" for "Eve Roe, as joint tenants".
func withoutTenancy(party string) string {
	parts := strings.Split(party, ",")
	isTenancy := func(part string) bool {
		return !slices.ContainsFunc(parsePartyName(part).words, func(word string) bool { return !tenancyWords[word] })
	}
	for len(parts) > 0 && isTenancy(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ",")
}

// IsOfficial reports whether a party acts by office, such as a sheriff.
func IsOfficial(name string) bool { return parsePartyName(name).official }

// maxComparedWords limits the time for finding the gaps of a runsheet to about a second. Above it, which
// takes thousands of different names with the same words, a name matches only one with the same words.
const maxComparedWords = 20_000_000

func (p *partyNames) add(name partyName) {
	if p.known[name.key()] {
		return
	}
	p.known[name.key()] = true
	for _, word := range name.distinctWords() {
		p.byWord[word] = append(p.byWord[word], len(p.list))
	}
	p.list = append(p.list, name)
}

// has reports whether a received name matches.
func (p *partyNames) has(name partyName) bool {
	if len(name.words) == 0 || p.known[name.key()] {
		return len(name.words) > 0
	}
	for range p.matching(name) {
		return true
	}
	return false
}

// matching yields the names that match a name, some of them several times. Names that are not the same have two
// equal words, so it leaves out those that have only the most frequent word of the name.
func (p *partyNames) matching(name partyName) iter.Seq[partyName] {
	return func(yield func(partyName) bool) {
		words := name.distinctWords()
		slices.SortStableFunc(words, func(a, b string) int { return len(p.byWord[a]) - len(p.byWord[b]) })
		if len(words) > 0 && len(words) == len(name.words) {
			words = words[:len(words)-1]
		}
		for _, word := range words {
			for _, n := range p.byWord[word] {
				if p.work += len(name.words) * len(p.list[n].words); p.work > maxComparedWords {
					return
				}
				if name.matches(p.list[n]) && !yield(p.list[n]) {
					return
				}
			}
		}
	}
}

// partyName is the name of a party, prepared for comparison.
type partyName struct {
	words    []string // sorted, as returned by PlainWords, without titles and suffixes
	official bool     // the party acts by office
}

// key returns a text that is equal for names with the same words.
func (p partyName) key() string { return strings.Join(p.words, " ") }

func (p partyName) distinctWords() []string { return slices.Compact(slices.Clone(p.words)) }

// matches reports whether two names can be those of the same party. All words of one must occur in
// the other, where an initial matches a word that starts with it, and at least two must be equal
// unless both names are the same.
func (p partyName) matches(other partyName) bool {
	short, long := p.words, other.words
	if len(short) > len(long) {
		short, long = long, short
	}
	used := make([]bool, len(long))
	pair := func(word string, fit func(word, candidate string) bool) bool {
		for n, candidate := range long {
			if !used[n] && fit(word, candidate) {
				used[n] = true
				return true
			}
		}
		return false
	}
	var others []string // an initial must not take the place of an equal word
	for _, word := range short {
		if !pair(word, func(word, candidate string) bool { return word == candidate }) {
			others = append(others, word)
		}
	}
	for _, word := range others {
		if !pair(word, func(word, candidate string) bool { return isInitialOf(word, candidate) || isInitialOf(candidate, word) }) {
			return false
		}
	}
	equal := len(short) - len(others)
	return equal >= 2 || equal == len(long) && equal > 0
}

// isInitialOf reports whether word is the first letter of another word.
func isInitialOf(word, other string) bool {
	return utf8.RuneCountInString(word) == 1 && strings.HasPrefix(other, word)
}

// Words of party names that don't identify the party, words about how parties hold title, and words of officials.
var (
	ignoredNameWords = newSet("mr", "mrs", "ms", "dr", "jr", "sr", "ii", "iii", "iv", "et", "ux", "uxor", "vir", "al", "aka", "fka", "nka",
		"dba",
		"and", "the", "of", "a", "an", "estate", "heirs", "heir", "deceased", "trustee", "trustees", "executor", "executrix", "administrator",
		"administratrix", "personal", "representative", "guardian", "husband", "wife", "single", "married", "unmarried", "man", "woman",
		"person", "widow", "widower", "his", "her", "their", "as", "by", "inc", "llc", "lp", "llp", "ltd", "co", "corp", "corporation", "company",
		"incorporated", "limited", "na")
	tenancyWords = newSet("tenant", "tenants", "tenancy", "joint", "jointly", "common", "entirety", "entireties",
		"survivor", "survivors", "survivorship", "right", "rights", "with", "in", "both", "each", "spouse", "spouses", "them", "hw")
	officialWords = newSet("sheriff", "marshal", "collector", "commissioner", "clerk", "constable", "referee", "receiver", "treasurer",
		"secretary")
)

// FoldParty returns the name of a party for comparisons: its words in alphabetical order, without titles and
// suffixes, so that "SMITH, JOHN" and "John Smith Jr." are equal. A name without other words stays.
func FoldParty(name string) string { return cmp.Or(parsePartyName(name).key(), Fold(name)) }

func parsePartyName(name string) (p partyName) {
	for _, word := range PlainWords(name) {
		p.official = p.official || officialWords[word]
		if !ignoredNameWords[word] {
			p.words = append(p.words, word)
		}
	}
	slices.Sort(p.words)
	return p
}

// DatedAfterRecorded reports whether the instrument is dated after it was recorded, so that one of the dates is wrong.
func (i Instrument) DatedAfterRecorded() bool {
	return i.Dated != "" && i.Recorded != "" && i.Dated > i.Recorded
}
