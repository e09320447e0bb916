package model

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// doubt is a reason why a value can't be right for some fields.
type doubt struct {
	text string // what is said of the value
	fits func(value string, now time.Time) bool
}

// Doubts about values of instruments.
var (
	isLate = doubt{"is in the future", func(v string, now time.Time) bool {
		day, ok := typedDay(v, now)
		return ok && day.After(now.AddDate(0, 0, 1))
	}}
	isEarly = doubt{"is before 1600", func(v string, now time.Time) bool {
		day, ok := typedDay(v, now)
		return ok && day.Year() < 1600
	}}
	isLarge = doubt{"is unusually large", func(v string, _ time.Time) bool {
		if amount, ok := NormalizeMoney(v); ok {
			v = amount
		}
		dollars, err := strconv.ParseFloat(v, 64)
		return err == nil && dollars >= 100_000_000
	}}
	isMistyped  = doubt{"can't be read as an amount", func(v string, _ time.Time) bool { return IsMistypedAmount(v) }}
	isCharacter = doubt{"is only one character", func(v string, _ time.Time) bool { return utf8.RuneCountInString(v) == 1 }}
	isLetter    = doubt{"is only one letter", func(v string, _ time.Time) bool {
		r, size := utf8.DecodeRuneInString(v)
		return size == len(v) && unicode.IsLetter(r)
	}}
	isLikeDate = doubt{"looks like a date", func(v string, now time.Time) bool { // digits alone can be a number
		v = clockText.ReplaceAllString(v, "")
		return strings.ContainsAny(v, "/.- ") && IsDate(TypedDate(v, LatestFuture(now)))
	}}
	isLikeAmount = doubt{"looks like an amount", func(v string, _ time.Time) bool { return amountText.MatchString(v) }}
	isLikePlace  = doubt{"looks like a book and page", func(v string, _ time.Time) bool { return placeText.MatchString(v) }}
	isLikeNumber = doubt{"looks like a number", func(v string, _ time.Time) bool {
		return strings.ContainsAny(v, "0123456789") && strings.IndexFunc(v, unicode.IsLetter) < 0
	}}
	isLikeWords = doubt{"looks like words", func(v string, _ time.Time) bool { return looksLikeWords(v) }}

	notParty  = append([]doubt{isCharacter}, notWords...)
	notWords  = []doubt{isLikeDate, isLikeAmount, isLikePlace, isLikeNumber}
	notNumber = []doubt{isLikeDate, isLikeAmount, isLikeWords}
)

var (
	clockText  = regexp.MustCompile(` +\d{1,2}:\d{2}.*$`)
	amountText = regexp.MustCompile(`^(?:\$ ?\d[\d,]*(?:\.\d\d)?|\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+\.\d\d)$`)
	placeText  = regexp.MustCompile(`(?i)^[a-z. ]*\d+ ?/ ?\d+(?:-\d+)?$|` +
		`^[a-z. ]*\b(?:book|bk|liber|vol|volume)\b\.? *\d+.*\b(?:page|pg|p|folio)\b\.? *\d+$`)
	romanText = regexp.MustCompile(`(?i)^[ivxlcdm]+$`)
)

// typedDay returns the day of a typed date.
func typedDay(text string, now time.Time) (day time.Time, ok bool) {
	day, err := time.Parse(time.DateOnly, TypedDate(text, LatestFuture(now)))
	return day, err == nil
}

// looksLikeWords reports whether a text has words where the letters and digits of a number belong, such as
// "A", "XIV", or "OR".
func looksLikeWords(text string) bool {
	letters, numerals := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			numerals++
		}
	}
	if numerals > 0 {
		return letters > 4*numerals && len(strings.Fields(text)) > 2
	}
	return letters > 2 && !romanText.MatchString(text)
}

// Doubt says why a value can't be right for the field, such as "is in the future", or "".
func (f InstrumentField) Doubt(value string, now time.Time) string {
	for _, d := range f.doubts {
		if d.fits(value, now) {
			return d.text
		}
	}
	return ""
}
