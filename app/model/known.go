package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// SearchTerms is what a record is known by when somebody searches for it. Labels are no
// part of it, nor what a box is ticked for.
type SearchTerms struct {
	Numbers []string // what it is called by: of files, orders, parcels, instruments; book and page
	Names   []string // of people, companies, places and documents
	Other   []string // every other value
}

// SearchTerms is what an abstract is known by.
func (a Abstract) SearchTerms() SearchTerms {
	var k SearchTerms
	k.number(a.TaxMap)
	k.property(a.Property)
	k.custom(a.Custom)
	k.other(a.Status)
	return k
}

// SearchTerms is what an order is known by.
func (o Order) SearchTerms() SearchTerms {
	var k SearchTerms
	k.number(o.Number)
	k.property(o.Property)
	k.custom(o.Custom)
	k.other(o.DueDate)
	k.other(o.Status)
	return k
}

// SearchTerms is what a document is known by: its name, and what is called a number there: all
// of it, as in "26-0017.pdf", or books, pages and longer numbers, as in "Deed
// Bk1022-Pg311.pdf". The 20 of "20_Deed.pdf" is a word of the name, and so is a date.
func (f File) SearchTerms() SearchTerms {
	var k SearchTerms
	k.name(f.Filename)
	stem := strings.TrimSuffix(f.Filename, f.dotExtension())
	apart := strings.ReplaceAll(stem, "_", " ")
	parts := strings.FieldsFunc(bookPage.ReplaceAllString(apart, " "), nameGap)
	if numberLike(stem) && !slices.ContainsFunc(parts, func(part string) bool { return !hasDigit(part) }) {
		k.number(stem)
		return k
	}
	for _, part := range parts {
		if numberLike(part) && !dateLike.MatchString(part) && (sixDigits.MatchString(part) || digits(part) >= leastDigits && inParts.MatchString(part)) {
			k.number(part)
		}
	}
	k.numbersIn(apart)
	return k
}

// leastDigits are those of a number in several parts among the words of a name.
const leastDigits = 4

func nameGap(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("_,;()[]", r) }

func (k *SearchTerms) property(p Property) {
	k.name(p.Address)
	k.name(p.City)
	k.name(p.County)
	k.other(p.State)
}

// custom sorts the values of custom fields by key and by shape, whatever the template
// of today says of them.
func (k *SearchTerms) custom(values Values) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		raw := bytes.TrimSpace(values[key])
		if text := values.text(key); text != "" {
			k.value(key, text)
			continue
		}
		var chosen []string
		if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &chosen) == nil {
			for _, text := range chosen {
				k.other(text)
			}
		}
	}
}

// value puts one value where it belongs. Of names there is one a line.
func (k *SearchTerms) value(key, text string) {
	words := strings.Split(Fold(key), "_")
	switch {
	case dateLike.MatchString(text):
		k.other(text)
		return
	case namesNumber(words) && hasDigit(text) && len(text) <= MaxNameLength, numberLike(text):
		k.number(text)
		return
	case slices.ContainsFunc(words, func(w string) bool { return nameWords[w] }):
		for line := range strings.Lines(text) {
			k.name(line)
		}
	default:
		k.other(text)
	}
	k.numbersIn(text)
}

// numbersIn adds the books and pages, and the instruments, that a text names.
func (k *SearchTerms) numbersIn(text string) {
	for _, called := range []*regexp.Regexp{bookPage, instrumentNumber} {
		for _, found := range called.FindAllString(text, mostNumbersIn) {
			k.number(found)
		}
	}
}

func (k *SearchTerms) number(s string) { add(&k.Numbers, s) }
func (k *SearchTerms) name(s string)   { add(&k.Names, s) }
func (k *SearchTerms) other(s string)  { add(&k.Other, s) }

func add(list *[]string, s string) {
	if s = strings.TrimSpace(s); s != "" && !slices.Contains((*list)[:min(len(*list), mostNumbersIn)], s) {
		*list = append(*list, s)
	}
}

// mostNumbersIn bounds what a long text adds.
const mostNumbersIn = 64

var (
	dateLike  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	sixDigits = regexp.MustCompile(`\d{6}`)
	inParts   = regexp.MustCompile(`\d[-./:–—‐‑]+\d`)
)

// nameWords stand in the keys of fields that hold names (WORKSPACE.md).
var nameWords = set("owner", "owners", "name", "names", "vesting", "borrower", "borrowers", "buyer", "buyers", "seller", "sellers",
	"grantor", "grantors", "grantee", "grantees", "mortgagor", "mortgagee", "lender", "lenders", "trustee", "client", "underwriter",
	"party", "parties", "entity", "entities", "company", "attorney", "plaintiff", "defendant", "debtor", "creditor", "heir", "heirs",
	"contact", "agent", "address", "street", "city", "county", "town", "township", "borough", "subdivision", "condominium", "plat")

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// namesNumber reports a key like file_number, parcel_id, deed_book_page or cob.
func namesNumber(words []string) bool {
	last := words[len(words)-1]
	place := ClassifyWord(last)
	return labels[last] || (place == BookWord || place == PageWord) && len(last) > 1 && !isWord(last)
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// numberLike reports a short text that has at least as many digits as letters, such as
// "12-3-045" or "Bk 1022 Pg 311".
func numberLike(s string) bool {
	if len(s) > MaxNameLength {
		return false
	}
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return digits(s) >= max(2, letters)
}

func digits(s string) (n int) {
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
