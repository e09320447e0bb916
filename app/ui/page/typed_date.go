package page

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// typedDatePattern matches dates in digits: 4/17/2019, 4-17-19, 04172019, and 041719.
var typedDatePattern = regexp.MustCompile(`^(?:([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]|([0-9]{2})([0-9]{2}))([0-9]{4}|[0-9]{2})$`)

// ParseTypedDate converts a date as users type it to YYYY-MM-DD. It accepts what NormalizeDate
// accepts and dates in digits, such as 4/17/19, 04172019, and 041719. A two-digit year means the
// latest such day that is not after latest, so the form has to show the result. Other text is
// returned unchanged. web/script/instrument.js does the same while the user types.
func ParseTypedDate(text string, latest time.Time) string {
	text = strings.TrimSpace(text)
	m := typedDatePattern.FindStringSubmatch(text)
	if m == nil {
		return NormalizeDate(text)
	}
	year, month, day := atoi(m[5]), atoi(m[1]+m[3]), atoi(m[2]+m[4])
	date := func() time.Time { return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC) }
	if len(m[5]) == 2 {
		year += latest.Year() / 100 * 100
		if date().After(latest) {
			year -= 100
		}
	}
	if d := date(); int(d.Month()) == month && d.Day() == day {
		return d.Format(time.DateOnly)
	}
	if d, err := time.Parse("20060102", text); err == nil {
		return d.Format(time.DateOnly)
	}
	return text
}

// atoi converts digits to a number.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // at most four digits
	return n
}

// FormatTypedDate formats a date as users type it: 4/17/2019. If text is not in the form
// YYYY-MM-DD, it is returned unchanged.
func FormatTypedDate(text string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.Format("1/2/2006")
}

// FormatTimeOfDay formats a time of day such as 15:04 as 3:04 PM. Other text is returned unchanged.
func FormatTimeOfDay(text string) string {
	for layout, shown := range map[string]string{"15:04": "3:04 PM", "15:04:05": "3:04:05 PM"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(shown)
		}
	}
	return text
}
