package model

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// referenceWord is the role of a word in a reference to recorded instruments, such as "Deed
// Book 12 Page 34".
type referenceWord uint8

// Roles of a word.
const (
	NotReferenceWord referenceWord = iota
	RecordsWord                    // names a record series: deed, conveyance, official
	BookWord                       // precedes a book number
	PageWord                       // precedes a page number
)

// BookType is the record series that a book belongs to. Deed book 12 and mortgage book 12 are
// different books. If a reference doesn't name a series, its type is AnyBook.
type BookType string

// Book types. The values are stored in the search index.
const (
	AnyBook         BookType = ""
	deedBook        BookType = "deeds"
	mortgageBook    BookType = "mortgages"
	PlatBook        BookType = "plats"
	officialRecords BookType = "official"
	willBook        BookType = "wills"
	miscBook        BookType = "misc"
)

// BookTypes lists all book types, including AnyBook.
var BookTypes = []BookType{AnyBook, deedBook, mortgageBook, PlatBook, officialRecords, willBook, miscBook}

// Words in references to recorded instruments, case-folded. MB doesn't have a type because it
// means map book in some states and mortgage book in others.
var (
	recordWords = map[string]BookType{
		"deed": deedBook, "deeds": deedBook, "conveyance": deedBook, "conveyances": deedBook, "conv": deedBook,
		"mortgage": mortgageBook, "mortgages": mortgageBook, "mtg": mortgageBook, "mtge": mortgageBook, "mort": mortgageBook,
		"map": PlatBook, "maps": PlatBook, "plat": PlatBook, "plats": PlatBook, "official": officialRecords,
		"will": willBook, "wills": willBook, "misc": miscBook, "miscellaneous": miscBook,
		"record": AnyBook, "records": AnyBook, "public": AnyBook, "land": AnyBook, "real": AnyBook, "property": AnyBook,
	}
	bookWords = map[string]BookType{
		"book": AnyBook, "bk": AnyBook, "liber": AnyBook, "lib": AnyBook, "l": AnyBook,
		"volume": AnyBook, "vol": AnyBook, "reel": AnyBook, "rb": AnyBook, "mb": AnyBook,
		"cob": deedBook, "db": deedBook, "mob": mortgageBook, "pb": PlatBook, "wb": willBook,
		"or": officialRecords, "orb": officialRecords, "ob": officialRecords, "opr": officialRecords,
	}
	pageWords = newSet("page", "pages", "pg", "pgs", "pp", "p", "folio", "folios", "fol", "f")
	// numberLabels are words that can precede a number and say what it identifies. The value is true
	// if a custom field whose key ends with the word contains such a number.
	numberLabels = map[string]bool{
		"number": true, "numbers": true, "no": true, "num": true, "nr": true, "id": true, "ref": true, "reference": true,
		"apn": true, "pin": true, "parcel": true, "map": true, "docket": true, "case": true,
		"instrument": true, "inst": true, "instr": true, "entry": true, "reception": true, "recep": true,
		"order": false, "file": false, "tax": false, "document": false, "doc": false,
	}
)

// ClassifyWord returns the role of a case-folded word. Most words with the role RecordsWord have
// another meaning unless a BookWord or PageWord is nearby.
func ClassifyWord[T string | []byte](word T) referenceWord {
	if _, ok := bookWords[string(word)]; ok {
		return BookWord
	}
	if pageWords[string(word)] {
		return PageWord
	}
	if _, ok := recordWords[string(word)]; ok {
		return RecordsWord
	}
	return NotReferenceWord
}

// IsNumberLabel reports whether a case-folded word says what the next number identifies, as in
// "order 2026-0117" and "Inst. No. 88123".
func IsNumberLabel[T string | []byte](word T) bool {
	_, ok := numberLabels[string(word)]
	return ok
}

// BookPage is a reference to a recorded instrument by book and page.
type BookPage struct {
	Type    BookType
	Numbers []string // book number, then page numbers
}

// ParseBookPage parses the case-folded words of a reference, with letters and digits split into
// separate words: "bk 1022 pg 311", "conveyance book no 1022 at folio 311", "c o b 1022 311",
// "1022 page 311". It returns false if there is no word for book or page, if there are fewer than
// two numbers, or if there is an unrelated word.
func ParseBookPage(words []string) (r BookPage, ok bool) {
	words = joinInitials(words)
	sawBook := false
	for len(words) > 0 && !isNumeric(words[0]) {
		word := ClassifyWord(words[0])
		if word == BookWord || word == RecordsWord {
			bookType := bookWords[words[0]]
			if word == RecordsWord {
				bookType = recordWords[words[0]]
			}
			if bookType != AnyBook {
				r.Type = bookType // the last word wins: a "mortgage deed book" contains deeds
			}
			sawBook = sawBook || word == BookWord
		} else if !sawBook || !isNumberWord(words[0]) {
			break
		}
		words = words[1:]
	}
	sawPage := false
	for i, w := range words {
		switch last := i == len(words)-1; {
		case isNumeric(w):
			r.Numbers = append(r.Numbers, w)
		case last || len(r.Numbers) == 0:
			return BookPage{}, false
		case ClassifyWord(w) == PageWord && !sawPage:
			sawPage = true
		case w == "at" && ClassifyWord(words[i+1]) == PageWord || isNumberWord(w) && sawPage && !isNumeric(words[i-1]):
		default:
			return BookPage{}, false
		}
	}
	return r, (sawBook || sawPage) && len(r.Numbers) > 1
}

// joinInitials joins single letters before a number into one word: "c o b 1022" becomes "cob
// 1022".
func joinInitials(words []string) []string {
	n := 0
	for n < len(words) && len(words[n]) == 1 && !isNumeric(words[n]) {
		n++
	}
	if joined := strings.Join(words[:n], ""); n > 1 && ClassifyWord(joined) == BookWord {
		return append([]string{joined}, words[n:]...)
	}
	return words
}

// BookSeries returns the record series that the words of a book type name, such as "DB" and "Deed Book", for
// comparisons. It is "" if they name none, as in "Book" and "Liber".
func BookSeries(bookType string) string {
	words := joinInitials(append(PlainWords(bookType), "0"))
	var others []string
	series := AnyBook
	for _, word := range words[:len(words)-1] {
		switch ClassifyWord(word) {
		case BookWord:
			series = cmp.Or(bookWords[word], series)
		case RecordsWord:
			series = cmp.Or(recordWords[word], series)
		default:
			if word != "of" && word != "the" && !isNumberWord(word) {
				others = append(others, word)
			}
		}
	}
	if len(others) == 0 {
		return string(series)
	}
	slices.Sort(others) // a deed of trust book and a trust deed book are the same
	return strings.TrimSpace(string(series) + " " + strings.Join(others, " "))
}

func isNumberWord(w string) bool { return w == "no" || w == "nr" || w == "num" || w == "number" }

func isNumeric(w string) bool { return w != "" && '0' <= w[0] && w[0] <= '9' }

// Patterns for references in running text. They are compiled when they are first used, because
// that takes milliseconds. bookPage matches "Bk 1022 Pg 311", "Bk1022-Pg311",
// "C.O.B. 1022, folio 311", "OR Book 1022 at Page 311", "Liber 7 f. 12", and "COB 1022/311".
// instrumentNumber matches "Inst. No. 88123".
var (
	bookPage = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:(?:` + regexpAlternatives(slices.Collect(maps.Keys(recordWords))) + `)\.?\s+){0,3}` +
			`(?:(?-i:OR|O\.\s?R\.)\s+(?:book|bk)|(?-i:OR|O\.\s?R\.)|` +
			regexpAlternatives(slices.DeleteFunc(slices.Collect(maps.Keys(bookWords)), isEnglishWord)) + `)\.?` +
			`[\s#-]*(?:(?:no|nr|num|number)\b\.?)?[\s#-]*\d{1,9}` +
			`(?:[\s,/;:-]*(?:at\s+)?(?:` + regexpAlternatives(slices.Collect(maps.Keys(pageWords))) +
			`)\.?[\s#-]*(?:(?:no|nr|num|number)\b\.?)?[\s#-]*|\s?/\s?)\d{1,9}`)
	})
	instrumentNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?i)\b(?:(?:instrument|instr|inst|entry|reception|recep)\b\.?[\s#]*(?:(?:no|nr|num|number)\b\.?)?|` +
				`doc(?:ument)?\b\.?\s*(?:no|nr|num|number|#)\.?)[\s:#]*\d[\d-]{3,19}\d`)
	})
)

// isEnglishWord reports whether an abbreviation is also an English word. Such an abbreviation is
// recognized only in capital letters.
func isEnglishWord(w string) bool { return w == "or" }

// regexpAlternatives joins words with "|" for a regular expression. Short abbreviations also
// match with dots between their letters.
func regexpAlternatives(words []string) string {
	slices.Sort(words)
	for i, w := range words {
		if len(w) <= 3 && bookWords[w] != AnyBook || w == "mb" || w == "rb" {
			words[i] = strings.Join(strings.Split(w, ""), `\.?\s?`)
		}
	}
	return strings.Join(words, "|")
}
