package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
)

// Limits for parsing dates and for searching for them.
const (
	maxDates            = 2     // maximum number of dates in a query that are searched for in other notations
	maxDateWords        = 6     // maximum number of words in a date: 14 th day of March 2026
	maxAdjoiningNumbers = 2     // maximum number of numbers next to a date that could be part of the same number
	firstYear           = 1_600 // earlier years are not recognized as dates
	lastYear            = 2_199

	// If the rarest word of a date such as March 14, 2026 is in the texts of more documents than
	// this, texts are searched only for that notation, the typed notation, and digits.
	maxDateDocs = 1_000_000
)

// latestShortYear is the latest date that a year of two digits can stand for.
var latestShortYear = time.Date(2029, time.December, 31, 0, 0, 0, 0, time.UTC)

// date is a date in a query, in one of these notations: 3/14/2026, 3-14-2026, 3/14/26, 2026-03-14,
// Mar 14, 2026, March 14th 2026, or 14 March 2026.
type date struct {
	groupFrom, groupTo   int // range of the groups that contain the date
	clauseFrom, clauseTo int // range of its clauses among all clauses of the query
	adjoining            []clause
	typed                []string   // the typed words without leading zeros
	joined               string     // the typed words with leading zeros, joined
	digitWords           []string   // notations that are one word of digits: 20260314, 03142026, 3142026
	digitPhrases         [][]string // notations that are several numbers, for fields: 2026 3 14
	wordPhrases          [][]string // notations with the name of the month, for fields and texts: March 14 2026
}

// findDates returns the first maxDates dates in a query.
func (q *parsedQuery) findDates() (found []date) {
	var list []clause
	var groupOf []int // index of the group of each clause
	for i, g := range q.groups {
		for _, c := range g.clauses {
			list, groupOf = append(list, c), append(groupOf, i)
		}
	}
	for i := 0; i < len(list) && len(found) < maxDates; {
		n, day := dateAt(list[i:])
		if n == 0 {
			i++
			continue
		}
		d := date{groupFrom: groupOf[i], groupTo: groupOf[i+n-1] + 1, clauseFrom: i, clauseTo: i + n}
		for k, c := range list {
			if groupOf[k] >= d.groupFrom && groupOf[k] < d.groupTo && (k < d.clauseFrom || k >= d.clauseTo) {
				d.adjoining = append(d.adjoining, c)
			}
		}
		if len(d.adjoining) <= maxAdjoiningNumbers && (len(found) == 0 || found[len(found)-1].groupTo <= d.groupFrom) {
			for _, c := range list[i : i+n] {
				d.typed = append(d.typed, trimZerosOfParts(c.parts)...)
				d.joined += strings.Join(c.parts, "")
			}
			d.addNotations(day)
			found = append(found, d)
		}
		i += n
	}
	return found
}

// dateAt returns the date at the start of list and the number of clauses that it takes. If list
// does not start with a date, n is 0.
func dateAt(list []clause) (n int, day time.Time) {
	var words []string
	for n, c := range list {
		if words = append(words, c.parts...); c.quoted || len(words) > maxDateWords {
			break
		}
		if n == 0 {
			if day, ok := parseDigitDate(c); ok {
				return 1, day
			}
		}
		if day, ok := parseMonthDate(words); ok {
			return n + 1, day
		}
	}
	return 0, time.Time{}
}

// parseDigitDate parses a clause of digits. A two-digit year requires slashes. A year of 19 or 20
// at the end of an open query is rejected because the user is probably still typing a four-digit
// year.
func parseDigitDate(c clause) (day time.Time, ok bool) {
	p := c.parts
	if len(p) != 3 || slices.ContainsFunc(p, func(w string) bool { return !isDigits(w) }) {
		return day, false
	}
	slashes, hyphens := strings.Join(p, "/") == c.number.typed, strings.Join(p, "-") == c.number.typed
	switch {
	case !slashes && !hyphens:
		return day, false
	case len(p[0]) == 4 && len(p[1]) == 2 && len(p[2]) == 2:
		return parseDay(p[0], p[1], p[2])
	case len(p[0]) > 2, len(p[2]) != 4 && (len(p[2]) != 2 || !slashes || c.open && (p[2] == "19" || p[2] == "20")):
		return day, false
	}
	return parseDay(p[2], p[0], p[1])
}

// parseMonthDate parses a date that contains the name of a month.
func parseMonthDate(words []string) (day time.Time, ok bool) {
	last := len(words) - 1
	if last < 2 || len(words[last]) != 4 {
		return day, false
	}
	if isMonthName(words[0]) {
		if w := words[1:last]; len(w) == 1 || len(w) == 2 && isOrdinalSuffix(w[1]) {
			return parseDay(words[last], words[0], w[0])
		}
		return day, false
	}
	month, between := words[last-1], words[1:last-1]
	if !isMonthName(month) {
		return day, false
	}
	if len(between) > 0 && isOrdinalSuffix(between[0]) {
		between = between[1:]
	}
	switch strings.Join(between, " ") {
	case "", "of", "day of":
		return parseDay(words[last], month, words[0])
	}
	return day, false
}

// isMonthName reports whether a word is the name of a month or its abbreviation.
func isMonthName(word string) bool {
	for m := time.January; m <= time.December; m++ {
		if slices.Contains(monthNames(m), word) {
			return true
		}
	}
	return false
}

// monthNames returns the name of a month and its abbreviations.
func monthNames(m time.Month) []string {
	const abbrLen = 3
	name := strings.ToLower(m.String())
	switch m {
	case time.May:
		return []string{name}
	case time.September:
		return []string{name, name[:abbrLen], "sept"}
	}
	return []string{name, name[:abbrLen]}
}

// isOrdinalSuffix reports whether a word is the ordinal suffix of a day, as in 14th.
func isOrdinalSuffix(w string) bool { return w == "st" || w == "nd" || w == "rd" || w == "th" }

// ordinalSuffix returns the ordinal suffix of a day, such as "th" for 14.
func ordinalSuffix(day int) string {
	switch day {
	case 1, 21, 31:
		return "st"
	case 2, 22:
		return "nd"
	case 3, 23:
		return "rd"
	}
	return "th"
}

// parseDay returns the date with the given year, month, and day. The month is a number or a name. ok
// reports whether that date exists.
func parseDay(year, month, day string) (t time.Time, ok bool) {
	const maxDigits = 2 // maximum number of digits in a day
	if len(day) > maxDigits {
		return t, false
	}
	t, err := time.Parse(time.DateOnly, model.DateOf(year, month, day, latestShortYear))
	return t, err == nil && t.Year() >= firstYear && t.Year() <= lastYear
}

// addNotations adds all notations of the date. In texts, a date in digits is also indexed as one
// word, regardless of punctuation. Finding one word is faster than finding three. In fields,
// another number may precede the date and become part of that word, so there the digits are also
// searched for as separate words without leading zeros, which the index also has.
func (d *date) addNotations(t time.Time) {
	year, month, day := strconv.Itoa(t.Year()), strconv.Itoa(int(t.Month())), strconv.Itoa(t.Day())
	names, suffix := monthNames(t.Month()), ordinalSuffix(t.Day())
	for _, name := range names {
		d.wordPhrases = append(d.wordPhrases, []string{name, day, year}, []string{name, day, suffix, year}, []string{day, name, year})
	}
	d.wordPhrases = append(d.wordPhrases, []string{day, suffix, "day", "of", names[0], year})
	d.digitPhrases = [][]string{{year, month, day}}
	if american := []string{month, day, year}; d.addDigitWords(t) {
		d.digitPhrases = append(d.digitPhrases, american)
	} else {
		d.wordPhrases = append(d.wordPhrases, american)
	}
	if !slices.ContainsFunc(slices.Concat(d.digitPhrases, d.wordPhrases), d.isAsTyped) {
		d.wordPhrases = append(d.wordPhrases, d.typed)
	}
}

// addDigitWords adds the notations that are one word of digits. Ambiguous words are omitted:
// 1142026 can be January 14 or November 4. all reports whether none was omitted.
func (d *date) addDigitWords(t time.Time) (all bool) {
	const ambiguousLen = 7 // a word of this many digits is ambiguous if it starts with 1
	all = true
	for _, layout := range []string{"20060102", "01022006", "1022006", "0122006", "122006"} {
		switch w := t.Format(layout); {
		case len(w) == ambiguousLen && w[0] == '1':
			all = false
		case !slices.Contains(d.digitWords, w):
			d.digitWords = append(d.digitWords, w)
		}
	}
	return all
}

func (d *date) isAsTyped(phrase []string) bool { return slices.Equal(phrase, d.typed) }
