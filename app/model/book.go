package model

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ReferenceWord is what a word says of the number behind it, where somebody refers to a book
// and page of a recorder.
type ReferenceWord uint8

// The places.
const (
	NotReferenceWord ReferenceWord = iota
	RecordsWord                    // which records these are: deed, conveyance, official
	BookWord                       // the number of a book is behind it
	PageWord                       // the number of a page is
)

// BookType is the records that a book is one of: book 12 of the mortgages is another
// than book 12 of the deeds. A book that is called nothing but so is of AnyBook.
type BookType string

// The registers.
const (
	AnyBook         BookType = ""
	DeedBook        BookType = "deeds"
	MortgageBook    BookType = "mortgages"
	PlatBook        BookType = "plats"
	OfficialRecords BookType = "official"
	WillBook        BookType = "wills"
	MiscBook        BookType = "misc"
)

// BookTypes are all of them, AnyBook too.
var BookTypes = []BookType{AnyBook, DeedBook, MortgageBook, PlatBook, OfficialRecords, WillBook, MiscBook}

// The words of references to recorded instruments, folded: the one list of them. MB is a
// book of maps in one state and of mortgages in another.
var (
	recordWords = map[string]BookType{
		"deed": DeedBook, "deeds": DeedBook, "conveyance": DeedBook, "conveyances": DeedBook, "conv": DeedBook,
		"mortgage": MortgageBook, "mortgages": MortgageBook, "mtg": MortgageBook, "mtge": MortgageBook, "mort": MortgageBook,
		"map": PlatBook, "maps": PlatBook, "plat": PlatBook, "plats": PlatBook, "official": OfficialRecords,
		"will": WillBook, "wills": WillBook, "misc": MiscBook, "miscellaneous": MiscBook,
		"record": AnyBook, "records": AnyBook, "public": AnyBook, "land": AnyBook, "real": AnyBook, "property": AnyBook,
	}
	bookWords = map[string]BookType{
		"book": AnyBook, "bk": AnyBook, "liber": AnyBook, "lib": AnyBook, "l": AnyBook,
		"volume": AnyBook, "vol": AnyBook, "reel": AnyBook, "rb": AnyBook, "mb": AnyBook,
		"cob": DeedBook, "db": DeedBook, "mob": MortgageBook, "pb": PlatBook, "wb": WillBook,
		"or": OfficialRecords, "orb": OfficialRecords, "ob": OfficialRecords, "opr": OfficialRecords,
	}
	pageWords = set("page", "pages", "pg", "pgs", "pp", "p", "folio", "folios", "fol", "f")
	// labels say what kind of number is behind them; true: so do the keys of fields that
	// end with one.
	labels = map[string]bool{
		"number": true, "numbers": true, "no": true, "num": true, "nr": true, "id": true, "ref": true, "reference": true,
		"apn": true, "pin": true, "parcel": true, "map": true, "docket": true, "case": true,
		"instrument": true, "inst": true, "instr": true, "entry": true, "reception": true, "recep": true,
		"order": false, "file": false, "tax": false, "document": false, "doc": false,
	}
)

// ClassifyWord is what a folded word says of the number behind it. Most words that are
// Records stand for something else where no Book or Page is with them.
func ClassifyWord[T string | []byte](word T) ReferenceWord {
	if _, is := bookWords[string(word)]; is {
		return BookWord
	}
	if pageWords[string(word)] {
		return PageWord
	}
	if _, is := recordWords[string(word)]; is {
		return RecordsWord
	}
	return NotReferenceWord
}

// IsNumberLabel reports a folded word that says what kind of number is behind it, and is no
// part of that: order 2026-0117, Inst. No. 88123.
func IsNumberLabel[T string | []byte](word T) bool {
	_, is := labels[string(word)]
	return is
}

// BookPage is a book and page.
type BookPage struct {
	Type    BookType
	Numbers []string // of the book, and of pages
}

// ParseBookPage reads the folded words of a reference, letters and digits apart: bk 1022
// pg 311, conveyance book no 1022 at folio 311, c o b 1022 311, 1022 page 311. It is
// false for what has no word for book or page, or another one, or a single number.
func ParseBookPage(words []string) (r BookPage, ok bool) {
	words = initials(words)
	said := false
	for len(words) > 0 && !isNumeric(words[0]) {
		place := ClassifyWord(words[0])
		if place == BookWord || place == RecordsWord {
			register := bookWords[words[0]]
			if place == RecordsWord {
				register = recordWords[words[0]]
			}
			if register != AnyBook {
				r.Type = register // a mortgage deed book is one of deeds
			}
			said = said || place == BookWord
		} else if !said || !isNo(words[0]) {
			break
		}
		words = words[1:]
	}
	paged := false
	for i, w := range words {
		switch last := i == len(words)-1; {
		case isNumeric(w):
			r.Numbers = append(r.Numbers, w)
		case last || len(r.Numbers) == 0:
			return BookPage{}, false
		case ClassifyWord(w) == PageWord && !paged:
			paged = true
		case w == "at" && ClassifyWord(words[i+1]) == PageWord || isNo(w) && paged && !isNumeric(words[i-1]):
		default:
			return BookPage{}, false
		}
	}
	return r, (said || paged) && len(r.Numbers) > 1
}

// initials makes one word of the letters before a number: c o b 1022.
func initials(words []string) []string {
	n := 0
	for n < len(words) && len(words[n]) == 1 && !isNumeric(words[n]) {
		n++
	}
	if joined := strings.Join(words[:n], ""); n > 1 && ClassifyWord(joined) == BookWord {
		return append([]string{joined}, words[n:]...)
	}
	return words
}

func isNo(w string) bool { return w == "no" || w == "nr" || w == "num" || w == "number" }

func isNumeric(w string) bool { return w != "" && '0' <= w[0] && w[0] <= '9' }

// What is called so in a text: "Bk 1022 Pg 311", "Bk1022-Pg311", "C.O.B. 1022, folio
// 311", "OR Book 1022 at Page 311", "Liber 7 f. 12", "COB 1022/311"; and "Inst. No. 88123".
var (
	bookPage = regexp.MustCompile(`(?i)\b(?:(?:` + alternatives(slices.Collect(maps.Keys(recordWords))) + `)\.?\s+){0,3}` +
		`(?:(?-i:OR|O\.\s?R\.)\s+(?:book|bk)|(?-i:OR|O\.\s?R\.)|` + alternatives(slices.DeleteFunc(slices.Collect(maps.Keys(bookWords)), isWord)) + `)\.?` +
		`[\s#-]*(?:(?:no|nr|num|number)\b\.?)?[\s#-]*\d{1,9}` +
		`(?:[\s,/;:-]*(?:at\s+)?(?:` + alternatives(slices.Collect(maps.Keys(pageWords))) + `)\.?[\s#-]*(?:(?:no|nr|num|number)\b\.?)?[\s#-]*|\s?/\s?)\d{1,9}`)
	instrumentNumber = regexp.MustCompile(`(?i)\b(?:(?:instrument|instr|inst|entry|reception|recep)\b\.?[\s#]*(?:(?:no|nr|num|number)\b\.?)?|` +
		`doc(?:ument)?\b\.?\s*(?:no|nr|num|number|#)\.?)[\s:#]*\d[\d-]{3,19}\d`)
)

// isWord reports the abbreviation that is a word of English too: it is known by its
// large letters.
func isWord(w string) bool { return w == "or" }

// alternatives are words of a regular expression, abbreviations with dots as well.
func alternatives(words []string) string {
	slices.Sort(words)
	for i, w := range words {
		if len(w) <= 3 && bookWords[w] != AnyBook || w == "mb" || w == "rb" {
			words[i] = strings.Join(strings.Split(w, ""), `\.?\s?`)
		}
	}
	return strings.Join(words, "|")
}
