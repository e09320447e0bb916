package search

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/postings"
)

// Bounds of dates.
const (
	mostDates      = 2     // of a query that are looked for in other notations
	mostDateParts  = 6     // words of one: 14 th day of March 2026
	mostDateRest   = 2     // numbers before and behind one that a blank makes a number with it
	firstYear      = 1_600 // what has another year is some other number
	lastYear       = 2_199
	firstShortYear = 1_930 // that two digits may mean, of a hundred
)

// date is a day that a query names, as somebody types it: 3/14/2026, 3-14-2026, 3/14/26,
// 2026-03-14, Mar 14, 2026, March 14th 2026, 14 March 2026.
type date struct {
	from, to    int // groups it stands in
	first, last int // clauses that are it: from the first of the query on
	rest        []clause
	typed       []string   // without zeros
	phrases     [][]string // all that it may be written as, typed among them
	joined      string     // 20260314
}

// dates finds the days that a query names.
func (a *asked) dates() (found []date) {
	var list []clause
	var in []int // groups
	for i, g := range a.groups {
		for _, c := range g.clauses {
			list, in = append(list, c), append(in, i)
		}
	}
	for i := 0; i < len(list) && len(found) < mostDates; {
		n, day := dateAt(list[i:])
		if n == 0 {
			i++
			continue
		}
		d := date{from: in[i], to: in[i+n-1] + 1, first: i, last: i + n}
		for k, c := range list {
			if in[k] >= d.from && in[k] < d.to && (k < d.first || k >= d.last) {
				d.rest = append(d.rest, c)
			}
		}
		if len(d.rest) <= mostDateRest && (len(found) == 0 || found[len(found)-1].to <= d.from) {
			for _, c := range list[i : i+n] {
				d.typed = append(d.typed, unpaddedParts(c.parts)...)
			}
			d.write(day)
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
		if words = append(words, c.parts...); c.quoted || len(words) > mostDateParts {
			break
		}
		if n == 0 {
			if day, is := dateOf(c); is {
				return 1, day
			}
		}
		if day, is := dateIn(words); is {
			return n + 1, day
		}
	}
	return 0, time.Time{}
}

// dateOf is the date of a clause of digits. Two digits of a year have slashes before
// them; 19 and 20 are mostly about to be four.
func dateOf(c clause) (day time.Time, is bool) {
	p := c.parts
	if len(p) != 3 || slices.ContainsFunc(p, func(w string) bool { return !isDigits(w) }) {
		return day, false
	}
	slashes, hyphens := strings.Join(p, "/") == c.called.typed, strings.Join(p, "-") == c.called.typed
	switch {
	case !slashes && !hyphens:
		return day, false
	case len(p[0]) == 4 && len(p[1]) == 2 && len(p[2]) == 2:
		return dayOf(p[0], p[1], p[2])
	case len(p[2]) == 4:
		return dayOf(p[2], p[0], p[1])
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
	return dayOf(strconv.Itoa(year), p[0], p[1])
}

// dateIn is the date of words, with the name of a month.
func dateIn(words []string) (day time.Time, is bool) {
	last := len(words) - 1
	if last < 2 || len(words[last]) != 4 {
		return day, false
	}
	if month := monthOf(words[0]); month != "" {
		if w := words[1:last]; len(w) == 1 || len(w) == 2 && isOrdinal(w[1]) {
			return dayOf(words[last], month, w[0])
		}
		return day, false
	}
	month, between := monthOf(words[last-1]), words[1:last-1]
	if month == "" {
		return day, false
	}
	if len(between) > 0 && isOrdinal(between[0]) {
		between = between[1:]
	}
	switch strings.Join(between, " ") {
	case "", "of", "day of":
		return dayOf(words[last], month, words[0])
	}
	return day, false
}

// monthOf is the number of a month by its name or the first letters of that, "" for
// what is none.
func monthOf(word string) string {
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

// isOrdinal says whether a word is what stands behind the number of a day.
func isOrdinal(w string) bool { return w == "st" || w == "nd" || w == "rd" || w == "th" }

// ordinal is what stands behind the number of a day.
func ordinal(day int) string {
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

// dayOf is a day by its digits; is says that there is one.
func dayOf(year, month, day string) (t time.Time, is bool) {
	const most = 2 // digits of a month or day
	if len(month) > most || len(day) > most {
		return t, false
	}
	t, err := time.Parse("2006-1-2", year+"-"+month+"-"+day)
	return t, err == nil && t.Year() >= firstYear && t.Year() <= lastYear
}

// write makes the phrases of a day. Numbers have no zeros before them: the index has
// those that do without them too.
func (d *date) write(t time.Time) {
	year, month, day := strconv.Itoa(t.Year()), strconv.Itoa(int(t.Month())), strconv.Itoa(t.Day())
	d.joined = t.Format("20060102")
	d.phrases = [][]string{{year, month, day}, {month, day, year}}
	names, th := monthNames(t.Month()), ordinal(t.Day())
	for _, name := range names {
		d.phrases = append(d.phrases, []string{name, day, year}, []string{name, day, th, year}, []string{day, name, year})
	}
	d.phrases = append(d.phrases, []string{day, th, "day", "of", names[0], year})
	if !slices.ContainsFunc(d.phrases, d.isTyped) {
		d.phrases = append(d.phrases, d.typed)
	}
}

func (d *date) isTyped(phrase []string) bool { return slices.Equal(phrase, d.typed) }

// only is the group of a query that has no other.
func (b *builder) only(groups []group, dates []date) postings.Node {
	if len(dates) > 0 {
		return b.dated(groups, dates[0])
	}
	return b.group(groups[0], true)
}

// dateOver is the date that a group is part of.
func dateOver(dates []date, group int) (d date, is bool) {
	for _, d := range dates {
		if d.from <= group && group < d.to {
			return d, true
		}
	}
	return d, false
}

// dated is groups that a date stands in: as they are typed, or the date in any notation.
func (b *builder) dated(groups []group, d date) postings.Node {
	var parts, rest postings.All
	for _, g := range groups[d.from:d.to] {
		parts = append(parts, b.group(g, len(groups) == 1))
	}
	for _, c := range d.rest {
		rest = append(rest, b.clause(c, false))
	}
	return postings.Any{all(parts), all(append(postings.All{d.nodes()}, rest...))}
}

// nodes are a date in any notation. It stands together, which is worth more in a text
// than its words apart, and most as it is typed.
func (d *date) nodes() postings.Node {
	either := postings.Any{flat(fieldWord, d.joined, worthDate), flat(textWord, d.joined, worthNear)}
	for _, p := range d.phrases {
		near := float64(worthNear)
		if d.isTyped(p) {
			near *= 2
		}
		either = append(either, fieldPhrase(p, worthDate), postings.Prefer{
			Must:   postings.Phrase{Terms: terms(textWord, p), Weight: worthText},
			Should: []postings.Node{flat(textWord, p[0], near)},
		})
	}
	return either
}

// dates adds what the days of a query may be written as.
func (m *Marker) dates(found []date) {
	for _, d := range found {
		var of uint64
		for i := d.first; i < d.last; i++ {
			of |= 1 << min(i, mostClauses-1)
		}
		for _, p := range d.phrases {
			m.phrase(p, false, of)
		}
		m.joined([]string{d.joined}, false, of)
	}
}
