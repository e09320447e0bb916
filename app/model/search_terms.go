package model

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// SearchTerms are the searchable values of a record. Field labels and check boxes are not
// included.
type SearchTerms struct {
	Numbers []string // file, order, parcel, and instrument numbers, and book and page references
	Names   []string // names of people, companies, places, and documents
	Other   []string // all other values
}

// SearchTerms returns the searchable values of the abstract.
func (a Abstract) SearchTerms() SearchTerms {
	var k SearchTerms
	addTexts(&k, abstractTexts, &a)
	k.custom(a.Custom)
	addTexts(&k, abstractStatus, &a)
	return k
}

// SearchTerms returns the searchable values of the order.
func (o Order) SearchTerms() SearchTerms {
	var k SearchTerms
	addTexts(&k, orderTexts, &o)
	k.custom(o.Custom)
	return k
}

// SearchTerms returns the searchable values of a document: its filename, and the numbers in the
// filename. A name such as "26-0017.pdf" is a single number. In other names, such as "Deed
// Bk1022-Pg311.pdf", the numbers are book and page references and long numbers. Dates and short
// numbers, as in "20_Deed.pdf", are only words of the name.
func (f File) SearchTerms() SearchTerms {
	var k SearchTerms
	k.name(f.Filename)
	stem := strings.TrimSuffix(f.Filename, f.dotExtension())
	spaced := strings.ReplaceAll(stem, "_", " ")
	parts := strings.FieldsFunc(bookPage().ReplaceAllString(spaced, " "), isNameSeparator)
	if looksLikeNumber(stem) && !slices.ContainsFunc(parts, func(part string) bool { return !hasDigit(part) }) {
		k.number(stem)
		return k
	}
	for _, part := range parts {
		if looksLikeNumber(part) && !dateLike.MatchString(part) &&
			(sixDigits.MatchString(part) || countDigits(part) >= minNumberDigits && hyphenatedNumber.MatchString(part)) {
			k.number(part)
		}
	}
	k.numbersIn(spaced)
	return k
}

// minNumberDigits is the minimum number of digits of a hyphenated number in a filename.
const minNumberDigits = 4

func isNameSeparator(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("_,;()[]", r) }

// custom adds the values of custom fields. It classifies each value by its key and format, so the
// result doesn't depend on the current template.
func (st *SearchTerms) custom(values CustomValues) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if text := values.Text(key); text != "" {
			st.value(key, text)
			continue
		}
		for _, text := range values.Choices(key) {
			st.other(text)
		}
	}
}

// value adds one value to Numbers, Names, or Other. If the key is for names, each line of the
// value is a name.
func (st *SearchTerms) value(key, text string) {
	words := strings.Split(Fold(key), "_")
	switch {
	case dateLike.MatchString(text):
		st.other(text)
		return
	case isNumberKey(words) && hasDigit(text) && len(text) <= MaxNameLength, looksLikeNumber(text):
		st.number(text)
		return
	case slices.ContainsFunc(words, func(w string) bool { return nameWords[w] }):
		for line := range strings.Lines(text) {
			st.name(line)
		}
	default:
		st.other(text)
	}
	st.numbersIn(text)
}

// numbersIn adds the book and page references and instrument numbers found in a text.
func (st *SearchTerms) numbersIn(text string) {
	for _, pattern := range []*regexp.Regexp{bookPage(), instrumentNumber()} {
		for _, found := range pattern.FindAllString(text, maxNumbersPerText) {
			st.number(found)
		}
	}
}

func (st *SearchTerms) number(s string) { add(&st.Numbers, s) }
func (st *SearchTerms) name(s string)   { add(&st.Names, s) }
func (st *SearchTerms) other(s string)  { add(&st.Other, s) }

func add(list *[]string, s string) {
	if s = strings.TrimSpace(s); s != "" && !slices.Contains((*list)[:min(len(*list), maxNumbersPerText)], s) {
		*list = append(*list, s)
	}
}

// maxNumbersPerText is the maximum number of references of each type taken from one text.
const maxNumbersPerText = 64

var (
	dateLike         = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	sixDigits        = regexp.MustCompile(`\d{6}`)
	hyphenatedNumber = regexp.MustCompile(`\d[-./:–—‐‑]+\d`)
)

// nameWords are words that identify custom fields for names. They are part of the field's key.
var nameWords = newSet("owner", "owners", "name", "names", "vesting", "borrower", "borrowers", "buyer", "buyers", "seller", "sellers",
	"grantor", "grantors", "grantee", "grantees", "mortgagor", "mortgagee", "lender", "lenders", "trustee", "client", "underwriter",
	"party", "parties", "entity", "entities", "company", "attorney", "plaintiff", "defendant", "debtor", "creditor", "heir", "heirs",
	"contact", "agent", "address", "street", "city", "county", "town", "township", "borough", "subdivision", "condominium", "plat")

func newSet(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// isNumberKey reports whether a custom field contains numbers, given the words of its key.
// Examples of such keys are file_number, parcel_id, deed_book_page, and cob.
func isNumberKey(words []string) bool {
	last := words[len(words)-1]
	role := ClassifyWord(last)
	return numberLabels[last] || (role == BookWord || role == PageWord) && len(last) > 1 && !isEnglishWord(last)
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// looksLikeNumber reports whether a short text has at least as many digits as letters, such as
// "12-3-045" or "Bk 1022 Pg 311".
func looksLikeNumber(s string) bool {
	if len(s) > MaxNameLength {
		return false
	}
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return countDigits(s) >= max(2, letters)
}

func countDigits(s string) (n int) {
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
