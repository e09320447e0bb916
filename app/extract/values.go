package extract

import (
	"regexp"
	"strings"
	"unicode"
)

// cleaner returns the values in a match of a pattern, given by two offsets in the text. If the match
// isn't a value of the field, there are none. ok is false if it can't be read reliably.
type cleaner func(r *reader, from, to int) (values []string, ok bool)

// cleaners returns the fields that a pattern may have.
func cleaners() map[string]cleaner {
	return map[string]cleaner{
		InstrumentNumber: (*reader).instrumentNumber, BookType: (*reader).bookType, Book: (*reader).bookNumber, PageNumber: (*reader).bookNumber,
		PageTo: (*reader).bookNumber, CaseNumber: (*reader).caseNumber, Recorded: (*reader).recorded, Dated: (*reader).signed,
		RecordedTime: (*reader).time, Grantors: (*reader).names, Grantees: (*reader).names, Trustee: (*reader).names, Nominee: (*reader).names,
		Consideration: (*reader).money, ConsiderationText: (*reader).considerationText, Parcels: (*reader).parcels,
		Subdivision: (*reader).subdivision, Lot: (*reader).lot, Block: (*reader).lot, County: (*reader).county, State: (*reader).state,
	}
}

// digits returns a number with its misread digits corrected. It corrects only letters that don't occur
// in numbers. ok is false if there is another letter among the digits.
func digits(text string) (number string, ok bool) {
	var b strings.Builder
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			b.WriteRune(c)
		case c == 'O' || c == 'o' || c == 'Q':
			b.WriteByte('0')
		case c == 'l' || c == 'I' || c == '|' || c == '!' || c == 'i':
			b.WriteByte('1')
		default:
			return "", false
		}
	}
	return b.String(), true
}

func (r *reader) text(from, to int) string {
	return strings.TrimSpace(r.source.original[r.source.originalAt(from):r.source.originalAt(to)])
}

// minInstrumentDigits is the minimum number of digits of an instrument number.
const minInstrumentDigits = 4

// bareYear matches a year. Offices that number by year write it before the number: "2019 00431".
var bareYear = regexp.MustCompile(`^(?:19|20)\d\d$`)

func (r *reader) instrumentNumber(from, to int) ([]string, bool) {
	words := strings.Fields(r.text(from, to))
	if len(words) == 2 {
		year, yearOK := digits(words[0])
		number, ok := digits(words[1])
		if yearOK && bareYear.MatchString(year) {
			return []string{year + " " + number}, ok
		}
	}
	text := strings.Join(words, "")
	text = strings.ReplaceAll(strings.Trim(text, "-/.,:;#~"), "~", "-")
	prefix := strings.IndexFunc(text, unicode.IsDigit)
	if prefix < 0 || prefix > 3 {
		return nil, true
	}
	if _, misread := digits(text[:prefix]); misread && prefix > 0 {
		prefix = 0
	}
	var b strings.Builder
	b.WriteString(text[:prefix])
	count := 0
	for _, c := range text[prefix:] {
		if c == '-' || c == '/' {
			b.WriteRune(c)
			continue
		}
		digit, ok := digits(string(c))
		if !ok {
			return nil, false
		}
		b.WriteString(digit)
		count++
	}
	if count < minInstrumentDigits || count > 20 || bareYear.MatchString(b.String()) {
		return nil, true
	}
	return []string{b.String()}, true
}

func (r *reader) bookNumber(from, to int) ([]string, bool) {
	text := r.text(from, to)
	if !strings.ContainsFunc(text, unicode.IsDigit) {
		return nil, true
	}
	number, ok := digits(text)
	return []string{number}, ok
}

var bookTypeWords = []struct {
	find *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?i)^(official|o)`), "Official Records"},
	{regexp.MustCompile(`(?i)^record`), "Record Book"},
	{regexp.MustCompile(`(?i)^(mortgage|mtg)`), "Mortgage Book"},
	{regexp.MustCompile(`(?i)^(deed of trust|trust deed)`), "Deed of Trust Book"},
	{regexp.MustCompile(`(?i)^(deed|db)`), "Deed Book"},
	{regexp.MustCompile(`(?i)^(plat|map)`), "Plat Book"},
	{regexp.MustCompile(`(?i)^lien`), "Lien Book"},
	{regexp.MustCompile(`(?i)^misc`), "Miscellaneous Book"},
	{regexp.MustCompile(`(?i)^vol`), "Volume"},
	{regexp.MustCompile(`(?i)^lib`), "Liber"},
	{regexp.MustCompile(`(?i)^reel`), "Reel"},
	{regexp.MustCompile(`(?i)^cab`), "Plat Cabinet"},
	{regexp.MustCompile(`(?i)^(cob|conv)`), "COB"},
}

func (r *reader) bookType(from, to int) ([]string, bool) {
	text := strings.TrimSpace(r.source.text[from:to])
	for _, word := range bookTypeWords {
		if word.find.MatchString(text) {
			return []string{word.name}, true
		}
	}
	return nil, true
}

func (r *reader) caseNumber(from, to int) ([]string, bool) {
	text := strings.Trim(strings.Join(strings.Fields(r.text(from, to)), " "), " .,:;-#")
	if len(text) < 4 || !strings.ContainsFunc(text, unicode.IsDigit) {
		return nil, true
	}
	return []string{text}, true
}

var (
	parcelEnd   = regexp.MustCompile(`(?i)\s*(?:;|,|&|\band\b)\s*`)
	shortParcel = 5
)

// parcelRest matches what may be the end of a parcel number after a blank that OCR read into it.
var parcelRest = regexp.MustCompile(`^[ ][A-Z]{0,2}-?[0-9][0-9A-Z.-]*(?:\s|$)`)

// decimalComma matches a decimal point that OCR read as a comma.
var decimalComma = regexp.MustCompile(`\d,\d`)

func (r *reader) parcels(from, to int) (list []string, ok bool) {
	if end := r.source.text[to:]; decimalComma.MatchString(r.source.text[from:min(to+2, len(r.source.text))]) || strings.HasPrefix(end, "~") {
		return nil, false
	}
	rest := parcelRest.FindString(r.source.text[to:])
	parts := parcelEnd.Split(lineAtDash.ReplaceAllString(r.text(from, to), "-"), -1)
	for n, text := range parts {
		number, ok := parcelNumber(strings.Trim(text, " .,:;-#"))
		if !ok {
			return nil, false
		}
		if joined := blankAtDash.ReplaceAllString(number, "-"); joined != number {
			r.noteReading(number, joined)
		} else if n == len(parts)-1 && rest != "" {
			r.noteReading(number, number+strings.TrimSpace(rest))
		}
		if number != "" {
			list = append(list, number)
		}
	}
	return list, true
}

// lineAtDash matches a dash at the end of a line, after which a parcel number continues.
var lineAtDash = regexp.MustCompile(`- *\r?\n *`)

// blankAtDash matches a dash with a blank, which OCR reads into a parcel number.
var blankAtDash = regexp.MustCompile(` ?- | -`)

// parcelNumber corrects a parcel number part by part. A part is a number, a letter or two, or a number
// with a letter before it.
func parcelNumber(text string) (string, bool) {
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(c rune) bool { return !isWordRune(c) })
		if end < 0 {
			end = len(text)
		}
		part := text[:end]
		if strings.ContainsFunc(part, unicode.IsDigit) {
			letter := 0
			for letter < len(part) && letter < 2 && unicode.IsUpper(rune(part[letter])) && b.Len() == 0 {
				letter++
			}
			if strings.ContainsAny(part[:letter], "OIlSBZ") { // or a digit
				return "", false
			}
			number, ok := digits(part[letter:])
			if !ok {
				return "", false
			}
			part = part[:letter] + number
		}
		b.WriteString(part)
		if end < len(text) {
			b.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	number := strings.Join(strings.Fields(b.String()), " ")
	if len(number) < shortParcel {
		return "", true
	}
	return number, true
}

var spelledNumbers = map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12"}

func (r *reader) lot(from, to int) ([]string, bool) {
	text := strings.Trim(r.text(from, to), " .,:;-#\"")
	if number := spelledNumbers[strings.ToLower(text)]; number != "" {
		return []string{number}, true
	}
	if !strings.ContainsFunc(text, unicode.IsDigit) {
		if len(text) != 1 || !unicode.IsUpper(rune(text[0])) {
			return nil, true
		}
		return []string{text}, true
	}
	letter := ""
	if last := text[len(text)-1]; len(text) > 1 && last >= 'A' && last <= 'Z' && last != 'O' && last != 'I' {
		text, letter = text[:len(text)-1], string(last)
	}
	number, ok := digits(text)
	return []string{number + letter}, ok
}

func (r *reader) subdivision(from, to int) ([]string, bool) {
	text := r.text(from, to)
	if at := labelBelow.FindStringIndex(r.source.text[from:min(to+maxLabel, len(r.source.text))]); len(at) > 0 && from+at[0] < to {
		text = r.text(from, from+at[0])
	}
	text = partNumber.ReplaceAllStringFunc(text, strings.NewReplacer("\n", " ", ",", ".").Replace)
	if at := blankLine.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	short := text
	if at := strings.IndexByte(text, '\n'); at >= 0 && !r.isWrapped(from+at) {
		short = text[:at]
	}
	words := strings.Fields(text)
	for n, word := range words { // a heading in all caps follows
		if n > 0 && isAllCaps(word) && !isAllCaps(words[0]) {
			words = words[:n]
			break
		}
	}
	text = strings.Trim(strings.Join(words, " "), " .,:;-\"'")
	if len(text) < minSubdivision || isPartOfPlat.MatchString(text) {
		return nil, true
	}
	if short = strings.Trim(short, " .,:;-\"'"); len(short) >= minSubdivision && len(short) < len(text) && strings.HasPrefix(text, short) {
		r.noteReading(text, short)
	}
	return []string{text}, true
}

// isWrapped reports whether the line of an offset in the text ends there because the next word has no space on it: with that
// word, the line would be longer than all others of its page.
func (r *reader) isWrapped(at int) bool {
	s := r.source
	n := s.lineAt(s.originalAt(at))
	width := 0
	for other, line := range s.lines {
		if line.page == s.lines[n].page {
			width = max(width, s.lineEnd(other)-line.start)
		}
	}
	next := ""
	if n+1 < len(s.lines) {
		next, _, _ = strings.Cut(strings.TrimSpace(s.original[s.lines[n+1].start:s.lineEnd(n+1)]), " ")
	}
	const ragged = 0.85 // of the width: columns and other fonts
	return float64(s.lineEnd(n)-s.lines[n].start+1+len(next)) > ragged*float64(width)
}

var (
	// isPartOfPlat matches a lot, a block, or a section, which isn't the name of a subdivision.
	isPartOfPlat = regexp.MustCompile(`(?i)^(?:lot|block|blk|square|section|sec|unit|phase)\b\W*(?:\d+[a-z]?|[a-z])?$`)
	// partNumber matches the number of a part of a subdivision, such as "No. 2". OCR can read it on a line of its own.
	partNumber = regexp.MustCompile(`\bN[Oo]\s?[.,]?\s*\d`)
	// labelBelow matches the start of a line with a label.
	labelBelow = regexp.MustCompile(`\n[^\n:]{3,60}:`)
)

// maxLabel is the maximum length of a label.
const maxLabel = 60

// notCounty matches words before "County" that aren't its name.
var notCounty = regexp.MustCompile(`(?i)^(?:the|said|this|such|each|any|same|a|in|of|and|for|clerk|recorder|register|office|official` +
	`|records?|state|court|deeds|public|recorded|filed|our|which|other|county)$`)

// county returns the name of a county. Words before it that don't belong to it are left out.
func (r *reader) county(from, to int) ([]string, bool) {
	words := strings.Fields(strings.Trim(r.text(from, to), " .,:;-"))
	for n := len(words) - 1; n >= 0; n-- {
		otherCase := isAllCaps(words[len(words)-1]) && !isAllCaps(words[n]) && len(words[n]) > len("St.")
		if notCounty.MatchString(strings.Trim(words[n], ".,:;")) || otherCase || strings.ContainsFunc(words[n], unicode.IsDigit) {
			words = words[n+1:]
			break
		}
	}
	if r.isPerson(words, from) {
		return nil, true
	}
	const maxCountyWords = 3
	name := strings.Join(words, " ")
	if len(words) == 0 || len(words) > maxCountyWords || len(name) < 3 || !unicode.IsUpper(firstRune(name)) {
		return nil, true
	}
	return []string{capitalize(name)}, true
}

// isPerson reports whether words at an offset in the text end the name of a person, such as the clerk of a county.
func (r *reader) isPerson(words []string, at int) bool {
	before := r.source.text[strings.LastIndexByte(r.source.text[:at], '\n')+1 : at]
	names := append(strings.Fields(before), words...)
	for n := max(len(names)-len(words)-2, 0); n+1 < len(names); n++ {
		word := strings.ToLower(names[n])
		if middleInitial.MatchString(names[n]) || r.rules.givenNames[word] {
			return true
		}
	}
	return false
}

var middleInitial = regexp.MustCompile(`^[A-Z]\.$`)

// state returns a state.
func (r *reader) state(from, to int) ([]string, bool) {
	name := strings.Join(strings.Fields(r.source.text[from:to]), " ")
	if len(name) == 2 {
		return []string{strings.ToUpper(name)}, true
	}
	return []string{capitalize(name)}, true
}

// capitalize returns a name in all caps with only its first letters in upper case.
func capitalize(name string) string {
	if strings.ToUpper(name) != name {
		return name
	}
	words := strings.Fields(strings.ToLower(name))
	for n, word := range words {
		if word != "of" {
			words[n] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, " ")
}

// minSubdivision is the minimum length of the name of a subdivision.
const minSubdivision = 4

// isAllCaps reports whether a word is in all caps and isn't a Roman numeral.
func isAllCaps(word string) bool {
	return len(word) > 1 && strings.ToUpper(word) == word && strings.Trim(word, "IVX,.0123456789") != ""
}
