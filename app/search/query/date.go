package query

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of dates.
const (
	maxDates            = 2     // of a query that are looked for in other notations
	maxDateWords        = 6     // words of one: 14 th day of March 2026
	maxAdjoiningNumbers = 2     // numbers before and behind one that a blank makes a number with it
	firstYear           = 1_600 // what has another year is some other number
	lastYear            = 2_199

	// Documents that have the rarest word of March 14, 2026 in their texts: where there are
	// more, it is looked for there so and as typed, and in digits.
	maxDateDocs = 1_000_000

	firstShortYear = 1_930 // that two digits may mean, of a hundred
)

// date is a day that a query names, as somebody types it: 3/14/2026, 3-14-2026, 3/14/26,
// 2026-03-14, Mar 14, 2026, March 14th 2026, 14 March 2026.
type date struct {
	groupFrom, groupTo   int // groups it stands in
	clauseFrom, clauseTo int // clauses that are it: from the first of the query on
	adjoining            []clause
	typed                []string   // without zeros
	joined               string     // with them, as one word
	digitWords           []string   // what it may be written as: 20260314, 03142026, 3142026
	digitPhrases         [][]string // in several, in fields: 2026 3 14
	wordPhrases          [][]string // in several, anywhere: March 14 2026
}

// findDates finds the days that a query names.
func (a *parsedQuery) findDates() (found []date) {
	var list []clause
	var in []int // groups
	for i, g := range a.groups {
		for _, c := range g.clauses {
			list, in = append(list, c), append(in, i)
		}
	}
	for i := 0; i < len(list) && len(found) < maxDates; {
		n, day := dateAt(list[i:])
		if n == 0 {
			i++
			continue
		}
		d := date{groupFrom: in[i], groupTo: in[i+n-1] + 1, clauseFrom: i, clauseTo: i + n}
		for k, c := range list {
			if in[k] >= d.groupFrom && in[k] < d.groupTo && (k < d.clauseFrom || k >= d.clauseTo) {
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

// dateAt is how many clauses are a date, 0 where none begins there, and the date.
func dateAt(list []clause) (n int, day time.Time) {
	var words []string
	for n, c := range list {
		if words = append(words, c.parts...); c.quoted || len(words) > maxDateWords {
			break
		}
		if n == 0 {
			if day, is := parseDigitDate(c); is {
				return 1, day
			}
		}
		if day, is := parseMonthDate(words); is {
			return n + 1, day
		}
	}
	return 0, time.Time{}
}

// parseDigitDate is the date of a clause of digits. Two digits of a year have slashes before
// them; 19 and 20 are mostly about to be four.
func parseDigitDate(c clause) (day time.Time, is bool) {
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
	case len(p[2]) == 4:
		return parseDay(p[2], p[0], p[1])
	case len(p[2]) != 2 || !slashes || c.open && (p[2] == "19" || p[2] == "20"):
		return day, false
	}
	year, err := strconv.Atoi(p[2])
	if err != nil {
		return day, false // digits of another script
	}
	year += firstShortYear - firstShortYear%100
	if year < firstShortYear {
		year += 100
	}
	return parseDay(strconv.Itoa(year), p[0], p[1])
}

// parseMonthDate is the date of words, with the name of a month.
func parseMonthDate(words []string) (day time.Time, is bool) {
	last := len(words) - 1
	if last < 2 || len(words[last]) != 4 {
		return day, false
	}
	if month := monthNumber(words[0]); month != "" {
		if w := words[1:last]; len(w) == 1 || len(w) == 2 && isOrdinalSuffix(w[1]) {
			return parseDay(words[last], month, w[0])
		}
		return day, false
	}
	month, between := monthNumber(words[last-1]), words[1:last-1]
	if month == "" {
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

// monthNumber is the number of a month by its name or the first letters of that, "" for
// what is none.
func monthNumber(word string) string {
	for m := time.January; m <= time.December; m++ {
		if slices.Contains(monthNames(m), word) {
			return strconv.Itoa(int(m))
		}
	}
	return ""
}

// monthNames are what a month is called.
func monthNames(m time.Month) []string {
	const short = 3
	name := strings.ToLower(m.String())
	switch m {
	case time.May:
		return []string{name}
	case time.September:
		return []string{name, name[:short], "sept"}
	}
	return []string{name, name[:short]}
}

// isOrdinalSuffix says whether a word is what stands behind the number of a day.
func isOrdinalSuffix(w string) bool { return w == "st" || w == "nd" || w == "rd" || w == "th" }

// ordinalSuffix is what stands behind the number of a day.
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

// parseDay is a day by its digits; is says that there is one.
func parseDay(year, month, day string) (t time.Time, is bool) {
	const most = 2 // digits of a month or day
	if len(month) > most || len(day) > most {
		return t, false
	}
	t, err := time.Parse("2006-1-2", year+"-"+month+"-"+day)
	return t, err == nil && t.Year() >= firstYear && t.Year() <= lastYear
}

// addNotations makes what a day may be written as. Digits of a text are one word, whatever is
// between them, which is found faster than three; in names they may have a number before
// them, and are looked for as words there, without zeros: the index has those that do.
func (d *date) addNotations(t time.Time) {
	year, month, day := strconv.Itoa(t.Year()), strconv.Itoa(int(t.Month())), strconv.Itoa(t.Day())
	names, th := monthNames(t.Month()), ordinalSuffix(t.Day())
	for _, name := range names {
		d.wordPhrases = append(d.wordPhrases, []string{name, day, year}, []string{name, day, th, year}, []string{day, name, year})
	}
	d.wordPhrases = append(d.wordPhrases, []string{day, th, "day", "of", names[0], year})
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

// addDigitWords makes the words of digits, and says whether those are all: 1142026 is January 14,
// and November 4.
func (d *date) addDigitWords(t time.Time) (all bool) {
	const either = 7 // digits, behind a 1
	all = true
	for _, layout := range []string{"20060102", "01022006", "1022006", "0122006", "122006"} {
		switch w := t.Format(layout); {
		case len(w) == either && w[0] == '1':
			all = false
		case !slices.Contains(d.digitWords, w):
			d.digitWords = append(d.digitWords, w)
		}
	}
	return all
}

func (d *date) isAsTyped(phrase []string) bool { return slices.Equal(phrase, d.typed) }
