package extract

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/model"
)

// alike are characters that OCR takes for each other in numbers.
var alike = []string{"0OoQD68", "1lIi|!7", "2Zz7", "38B", "4A", "5Ss6", "6G8", "9g"}

// isAlike reports whether OCR takes one character for the other one.
func isAlike(a, b rune) bool {
	return a == b || slices.ContainsFunc(alike, func(set string) bool { return strings.ContainsRune(set, a) && strings.ContainsRune(set, b) })
}

// maxConfusions is in how many characters two readings of one value may differ.
const maxConfusions = 2

// AreReadings reports whether two numbers are different but may be readings of the same one: OCR confuses characters, and it
// reads blanks and other separators into them.
func AreReadings(a, b string) bool {
	if a == b || model.NormalizeRecordingNumber(a) == model.NormalizeRecordingNumber(b) {
		return false
	}
	characters := func(text string) (list []rune) {
		for _, c := range text {
			if isAlphanumeric(c) {
				list = append(list, c)
			}
		}
		return list
	}
	x, y := characters(a), characters(b)
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	confusions := 0
	for n := range x {
		if !isAlike(x[n], y[n]) {
			return false
		}
		if x[n] != y[n] {
			confusions++
		}
	}
	return confusions <= maxConfusions
}

// comparedFields are fields of which an instrument has one value, so that another one makes both doubtful. Of dates and
// parties, a document states those of other instruments, too.
var comparedFields = []string{InstrumentNumber, Book, PageNumber, CaseNumber, Consideration, Parcels, County, State}

// compare marks a field doubtful if another pattern found another value. Pages of a document have their own pages of the book.
// A judgment has the date on which it was rendered, and that of its paper.
func (r *reader) compare(name string, other Field) {
	f, known := r.fields[name]
	isCompared := slices.Contains(comparedFields, name) || name == Dated && r.kind == judgmentKind
	if !known || !isCompared || name == PageNumber && other.Page != f.Page || len(other.Values) == 0 {
		return
	}
	fold := model.NormalizeRecordingNumber
	if name == State {
		fold = model.FoldState
	}
	if !slices.EqualFunc(f.Values, other.Values, func(a, b string) bool { return fold(a) == fold(b) }) {
		r.fields[name] = f.withReading(strings.Join(other.Values, "; "))
	}
}

const judgmentKind = "Judgment"

// withReading returns a field that is doubtful because it has another reading.
func (f Field) withReading(reading string) Field {
	f.Doubtful = true
	if !slices.Contains(f.Readings, reading) {
		f.Readings = append(f.Readings, reading)
	}
	return f
}

// compareFields marks fields doubtful that can hardly be right together: an instrument that was recorded more than a year
// after its date, and one with the same parties on both sides.
func (r *reader) compareFields() {
	doubt := func(names ...string) {
		for _, name := range names {
			f := r.fields[name]
			f.Doubtful = true
			r.fields[name] = f
		}
	}
	dated, err := time.Parse(time.DateOnly, r.fields[Dated].Value())
	recorded, err2 := time.Parse(time.DateOnly, r.fields[Recorded].Value())
	if err == nil && err2 == nil && dated.AddDate(1, 0, 0).Before(recorded) {
		doubt(Dated, Recorded)
	}
	if grantors := r.fields[Grantors].Values; len(grantors) > 0 && slices.Equal(grantors, r.fields[Grantees].Values) {
		doubt(Grantors, Grantees)
	}
}

// partyFields are the fields with names.
var partyFields = []string{Grantors, Grantees, Trustee, Nominee}

// checkNames marks persons doubtful who have a similar name on a line of its own, such as below a signature, and those with
// unusual names that the text doesn't have again.
func (r *reader) checkNames() {
	known := map[string]bool{}
	for _, name := range partyFields {
		for _, value := range r.fields[name].Values {
			known[strings.Join(nameWords(value), " ")] = true
		}
	}
	lines := r.nameLines()
	text := " " + strings.Join(nameWords(r.source.original), " ") + " "
	for _, name := range partyFields {
		f, found := r.fields[name]
		for _, value := range f.Values {
			words := nameWords(value)
			if r.isEntity(value) || r.hasCapacity(value) {
				continue
			}
			for _, line := range lines {
				if other := nameWords(line); !known[strings.Join(other, " ")] && isLikeName(words, other) {
					f = f.withReading(line)
				}
			}
			usual := slices.ContainsFunc(words, func(word string) bool { return r.rules.givenNames[word] })
			f.Doubtful = f.Doubtful || !usual && strings.Count(text, " "+strings.Join(words, " ")+" ") < 2
		}
		if found {
			r.fields[name] = f
		}
	}
}

// nameWords returns the words of a text in lower case, without punctuation.
func nameWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !isAlphanumeric(c) && c != '\'' })
}

// maxNameLine is how many words the name of a person on a line of its own may have.
const maxNameLine = 4

// nameLines returns the names of persons that have a line of their own. The last line of a paragraph isn't one.
func (r *reader) nameLines() (names []string) {
	above := ""
	for line := range strings.Lines(r.source.original) {
		line = strings.Trim(line, " \n,.:;_-")
		name := strings.TrimSpace(strings.TrimPrefix(line, "By:"))
		words := len(strings.Fields(name))
		isName := words > 1 && words <= maxNameLine && r.isParty(name) && !r.isEntity(name) && !conjoined.MatchString(name)
		if isName && len(above) <= narrowLine {
			names = append(names, name)
		}
		above = line
	}
	return names
}

// isLikeName reports whether two different names may be readings of the same one: one has more words, or one word looks like
// the other one or like its start.
func isLikeName(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	last := len(a) - 1
	if last < 1 || slices.Equal(a, b) {
		return false
	}
	if a[0] == b[0] && a[last] == b[len(b)-1] && len(a) < len(b) || slices.Equal(a, b[len(b)-len(a):]) {
		return true
	}
	differs := slices.IndexFunc(a, func(word string) bool { return !slices.Contains(b, word) })
	if differs < 0 || !slices.Equal(a[:differs], b[:differs]) || len(a[differs]) < 2 {
		return false
	}
	x, y := a[differs], b[differs]
	if differs == last && last > 1 {
		return strings.HasPrefix(x, y) || strings.HasPrefix(y, x) || isOneLetterOff(x, y) || shapeOf(x) == shapeOf(y)
	}
	return slices.Equal(a[differs+1:], b[differs+1:]) && (isOneLetterOff(x, y) || shapeOf(x) == shapeOf(y))
}

// minPartOfParcel is how many letters and digits the start of a parcel number must have to be taken for a part of it.
const minPartOfParcel = 4

// CompareKnown marks the parcels and the county doubtful if they may be misreadings of those that are known, such as those of
// the abstract.
func (f Fields) CompareKnown(parcels []string, county string) {
	compare := func(name string, known []string, isReading func(value, known string) bool) {
		field, found := f[name]
		for _, value := range field.Values {
			for _, id := range known {
				if isReading(value, id) {
					field = field.withReading(id)
				}
			}
		}
		if found {
			f[name] = field
		}
	}
	compare(Parcels, parcels, func(value, id string) bool {
		part, all := model.NormalizeNumber(value), model.NormalizeNumber(id)
		return AreReadings(value, id) || part != all && len(part) >= minPartOfParcel && strings.HasPrefix(all, part)
	})
	if county != "" {
		compare(County, []string{county}, func(value, county string) bool {
			a, b := model.FoldCounty(value), model.FoldCounty(county)
			return a != b && (shapeOf(a) == shapeOf(b) || isOneLetterOff(a, b))
		})
	}
}

// misreadDigit matches a letter beside a digit, or the other way around, that OCR read instead of a digit.
var (
	misreadDigit = regexp.MustCompile(`[0-9][OoQDlI|!iSsBZz]|[OoQDlI|!iSsBZz][0-9]`)
	ordinalDay   = regexp.MustCompile(`(?i)([0-9])(?:st|nd|rd|th)\b`)
)

// isCorrected reports whether a value of a field has digits where letters were read.
func (r *reader) isCorrected(name string, values []string, from, to int) bool {
	read := r.text(from, to)
	switch kindsOfFields[name] {
	case "date", "amount":
		return name != ConsiderationText && misreadDigit.MatchString(ordinalDay.ReplaceAllString(read, "$1"))
	case "number", "parcel", "land":
		if name == Subdivision || spelledNumbers[strings.ToLower(read)] != "" || name == CaseNumber {
			return false
		}
		digits := func(text string) (count int) {
			for _, c := range text {
				if unicode.IsDigit(c) {
					count++
				}
			}
			return count
		}
		return misreadDigit.MatchString(read) && digits(read) != digits(strings.Join(values, ""))
	}
	return false
}

// romanNumeral matches what OCR makes of II or III after a name, and the H of "Hi" that it makes of two of them.
var romanNumeral = regexp.MustCompile(`^(?:[IilLj1|!]{2,3}|[Hh][IilL1|]|[IilL1|][Hh]|[Uu][IilL1|])$`)

// numeralReading returns the II or III that the last word of a name may be instead. It returns word if there is none.
func numeralReading(word string) string {
	letters := strings.TrimRight(word, ".,;:")
	if !romanNumeral.MatchString(letters) || letters == "II" || letters == "III" {
		return word
	}
	if len(letters) == len("III") || strings.ContainsAny(letters, "HhUu") {
		return "III"
	}
	return "II"
}
