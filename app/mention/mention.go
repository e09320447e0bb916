// Package mention reads in the name and the text of a document what may tell which abstract it belongs to: numbers,
// addresses, and names after words such as Borrower. It doesn't know which of them exist.
package mention

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mention is a number, an address, or a name as a document states it.
type Mention struct {
	Text    string
	Forms   []string // Text and its other spellings, such as "12 Elm Street" for "12 Elm St"
	Page    int      // where it was read, from 1; 0: in the name of the document
	Labeled bool     // a number after a word such as Order or File No., or in the name of the document
	After   string   // what follows an address, such as the city
}

// List contains the mentions of a document, in the sequence of its pages. Numbers have the labeled ones first.
type List struct{ Numbers, Addresses, Names []Mention }

// Limits of a document. The rest of a longer one is ignored.
const (
	maxBytes     = 256 << 10
	maxPages     = 50
	maxLabeled   = 12
	maxNumbers   = 40 // without the labeled ones
	maxAddresses = 10
	maxNames     = 8
	afterBytes   = 60
)

// Reader collects the mentions of a document.
type Reader struct {
	labeled, others  []Mention
	addresses, names []Mention
	bytes            int
	seen             map[string]bool // mentions by their type and text
}

// NewReader returns a reader that has read the name of a document.
func NewReader(filename string) *Reader {
	r := &Reader{seen: map[string]bool{}}
	name := strings.ReplaceAll(filename, "_", " ")
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot]
	}
	r.read(0, name)
	return r
}

// Add reads a page. It returns false when no more pages are wanted.
func (r *Reader) Add(page int, text string) (more bool) {
	if page > maxPages || r.bytes >= maxBytes {
		return false
	}
	if rest := maxBytes - r.bytes; len(text) > rest {
		text = text[:rest]
	}
	r.bytes += len(text)
	r.read(page, strings.ToValidUTF8(text, " "))
	return r.bytes < maxBytes
}

// List returns what was read.
func (r *Reader) List() List {
	return List{append(append([]Mention(nil), r.labeled...), r.others...), r.addresses, r.names}
}

func (r *Reader) read(page int, text string) {
	for line := range strings.Lines(text) {
		r.readNumbers(page, line)
	}
	r.readAddresses(page, text)
	r.readNames(page, text)
}

// add adds a mention to a list, unless it is in there or the list has limit mentions.
func (r *Reader) add(list *[]Mention, limit int, kind string, c Mention) {
	key := kind + strings.ToLower(c.Text)
	if len(*list) >= limit || r.seen[key] {
		return
	}
	r.seen[key] = true
	*list = append(*list, c)
}

var (
	numberToken = regexp.MustCompile(`[0-9A-Za-z]+(?:[-./][0-9A-Za-z]+)*`)
	numberLabel = regexp.MustCompile(`(?i)\b(?:order|file|our|your|ref|reference|abstract|title|commitment|escrow|job|re)\b[\s.:#]*` +
		`(?:(?:order|file|ref|reference|title)\b[\s.:#]*)?(?:(?:no|nos|num|number|id)\b)?[\s.:#]*$`)
	// Tokens that aren't numbers of orders, abstracts, or parcels: dates, phone numbers, and ordinals.
	otherToken = regexp.MustCompile(`^(?:\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|\d{4})|(?:1[-.])?\d{3}[-.]\d{3}[-.]\d{4}|\d+(?:st|nd|rd|th))$`)
	year       = regexp.MustCompile(`^(?:1[6-9]|20)\d\d$`)
)

const (
	labelBytes      = 40 // before a number
	minLabeled      = 2  // letters and digits of a number after a label
	minChars        = 4  // the same without a label
	minDigits       = 5  // the same if it has only digits
	minWord         = 3  // letters of a word that isn't a part of the number
	maxNumberLength = 40
)

// isAmount reports whether a number after these characters of its line is an amount of money or the rest of one.
func isAmount(before string) bool {
	n := len(before)
	return strings.HasSuffix(before, "$") || n > 1 && before[n-1] == ',' && before[n-2] >= '0' && before[n-2] <= '9'
}

func (r *Reader) readNumbers(page int, line string) {
	for _, at := range numberToken.FindAllStringIndex(line, -1) {
		token := line[at[0]:at[1]]
		if isAmount(line[:at[0]]) || len(token) > maxNumberLength || !strings.ContainsFunc(token, unicode.IsDigit) ||
			otherToken.MatchString(token) {
			continue
		}
		labeled := page == 0 || numberLabel.MatchString(line[max(0, at[0]-labelBytes):at[0]])
		for _, number := range append([]string{token}, withoutWords(token)...) {
			r.addNumber(number, page, labeled)
		}
	}
}

// withoutWords returns a number without the words around it: "2024-118" for "2024-118-deed". The number is not in the list if
// there are no such words.
func withoutWords(token string) (list []string) {
	isWord := func(part string) bool { return len(part) >= minWord && !strings.ContainsFunc(part, unicode.IsDigit) }
	number := token
	for {
		cut := strings.LastIndexAny(number, "-./")
		if cut < 0 || !isWord(number[cut+1:]) {
			break
		}
		number = number[:cut]
	}
	if number != token {
		list = append(list, number)
	}
	if cut := strings.IndexAny(number, "-./"); cut > 0 && isWord(number[:cut]) {
		list = append(list, number[cut+1:])
	}
	return list
}

func (r *Reader) addNumber(number string, page int, labeled bool) {
	chars, digits := 0, 0
	for _, c := range number {
		if unicode.IsDigit(c) {
			digits++
		}
		if unicode.IsDigit(c) || unicode.IsLetter(c) {
			chars++
		}
	}
	m := Mention{Text: number, Forms: []string{number}, Page: page, Labeled: labeled}
	switch {
	case digits == 0:
	case labeled && chars >= minLabeled && !(page == 0 && (year.MatchString(number) || chars < minChars)):
		r.add(&r.labeled, maxLabeled, "number ", m)
	case chars < minChars, digits == len(number) && digits < minDigits:
	default:
		r.add(&r.others, maxNumbers, "number ", m)
	}
}

// spellings are words of addresses with their abbreviations.
var spellings = [][2]string{
	{"street", "st"}, {"avenue", "ave"}, {"road", "rd"}, {"drive", "dr"}, {"lane", "ln"}, {"court", "ct"}, {"boulevard", "blvd"},
	{"place", "pl"}, {"circle", "cir"}, {"terrace", "ter"}, {"highway", "hwy"}, {"parkway", "pkwy"}, {"trail", "trl"}, {"square", "sq"},
	{"route", "rte"}, {"north", "n"}, {"south", "s"}, {"east", "e"}, {"west", "w"},
}

var address = regexp.MustCompile(`(?i)\b\d{1,6}(?:-\d{1,4})?[a-z]?[ \t]+(?:` +
	`(?:(?:state|county|us|old)[ \t]+)?(?:route|rte\.?|road|highway|hwy\.?)[ \t]+\d+` +
	`|(?:[a-z0-9'’.]+[ \t]+){1,4}?(?:street|st|avenue|ave|road|rd|drive|dr|lane|ln|court|ct|boulevard|blvd|place|pl|circle|cir|terrace|ter` +
	`|highway|hwy|parkway|pkwy|trail|trl|square|sq|way|loop|pike|alley|run|path|row))\b\.?`)

func (r *Reader) readAddresses(page int, text string) {
	for _, at := range address.FindAllStringIndex(text, maxPages) {
		found := strings.Join(strings.Fields(strings.TrimRight(text[at[0]:at[1]], ".")), " ")
		after := strings.ToValidUTF8(text[at[1]:min(len(text), at[1]+afterBytes)], " ")
		r.add(&r.addresses, maxAddresses, "address ", Mention{Text: found, Forms: forms(found), Page: page, After: after})
	}
}

// forms returns an address as it is written, and with all words spelled out and abbreviated.
func forms(address string) []string {
	list := []string{address}
	for _, to := range []int{0, 1} {
		words := strings.Fields(address)
		for n := 1; n < len(words); n++ {
			for _, pair := range spellings {
				if strings.EqualFold(strings.Trim(words[n], "."), pair[1-to]) {
					words[n] = pair[to]
				}
			}
		}
		if form := strings.Join(words, " "); !strings.EqualFold(form, address) {
			list = append(list, form)
		}
	}
	return list
}

var name = regexp.MustCompile(`(?im)^[^\w\n]*(?:(?:current|property|record|proposed|vested)[ \t]+)?` +
	`(?:borrower|buyer|purchaser|seller|owner|mortgagor|applicant|client|insured|re)(?:\(s\)|s)?(?:[ \t]+of[ \t]+record)?(?:[ \t]+names?)?` +
	`[ \t]*[:–—-][ \t]*([^\n]+)$`)

const (
	maxNameLength = 100 // characters
	maxNameWords  = 10
)

func (r *Reader) readNames(page int, text string) {
	for _, found := range name.FindAllStringSubmatch(text, maxPages) {
		value := found[1]
		for _, end := range []string{"\t", "  ", "(", " - ", "–", "|"} {
			value, _, _ = strings.Cut(value, end)
		}
		value = strings.Trim(strings.TrimSpace(value), ",;:.")
		if strings.ContainsFunc(value, unicode.IsDigit) || !strings.ContainsFunc(value, unicode.IsLetter) ||
			utf8.RuneCountInString(value) > maxNameLength || len(strings.Fields(value)) > maxNameWords {
			continue
		}
		r.add(&r.names, maxNames, "name ", Mention{Text: value, Forms: []string{value}, Page: page})
	}
}
