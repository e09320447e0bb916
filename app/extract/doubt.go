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
func (f *Field) compare(name string, other Field) {
	if name == PageNumber && other.Page != f.Page {
		return
	}
	reading := strings.Join(other.Values, "; ")
	isOther := reading != "" && !slices.EqualFunc(f.Values, other.Values, func(a, b string) bool {
		return model.NormalizeRecordingNumber(a) == model.NormalizeRecordingNumber(b)
	})
	if isOther && slices.Contains(comparedFields, name) && !slices.Contains(f.Readings, reading) {
		f.Readings, f.Doubtful = append(f.Readings, reading), true
	}
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

// minPartOfParcel is how many letters and digits the start of a parcel number must have to be taken for a part of it.
const minPartOfParcel = 4

// CompareKnown marks the parcels and the county doubtful if they may be misreadings of those that are known, such as those of
// the abstract.
func (f Fields) CompareKnown(parcels []string, county string) {
	compare := func(name string, known []string, isReading func(value, known string) bool) {
		field, found := f[name]
		for _, value := range field.Values {
			for _, id := range known {
				if isReading(value, id) && !slices.Contains(field.Readings, id) {
					field.Readings, field.Doubtful = append(field.Readings, id), true
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
