package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// maxYears is the maximum number of years in a duration. It keeps the value within the range of time.Duration.
const maxYears = 200

// maxDays is the maximum number of days that ParseDuration accepts.
const maxDays = 1<<16 - 1

var errDuration = errors.New("is not a duration; write it like 30s, 5m, 24h, 7d or 20y")

// ParseDuration parses a duration in Go syntax (`1h30m`, `500ms`). It also accepts a number of years (365 days each)
// and days, either alone or followed by a duration in Go syntax (`20y`, `7d`, `1d12h`, `1y30d`).
func ParseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	head, rest, yearly := strings.Cut(text, "y")
	if !yearly {
		return parseDays(text)
	}
	years, err := strconv.ParseUint(head, 10, 16)
	if err != nil || years > maxYears {
		return 0, errDuration
	}
	total := time.Duration(years) * year
	if rest == "" {
		return total, nil
	}
	more, err := parseDays(rest)
	if err != nil || more < 0 || total+more < total || strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "-") {
		return 0, errDuration
	}
	return total + more, nil
}

func parseDays(text string) (time.Duration, error) {
	head, rest, daily := strings.Cut(text, "d")
	if !daily {
		plain, err := time.ParseDuration(text)
		if err != nil {
			return 0, errDuration
		}
		return plain, nil
	}
	days, err := strconv.ParseUint(head, 10, 16)
	if err != nil {
		return 0, errDuration
	}
	total := time.Duration(days) * day
	if rest == "" {
		return total, nil
	}
	plain, err := time.ParseDuration(rest)
	if err != nil || plain < 0 || total+plain < total || strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "-") {
		return 0, errDuration
	}
	return total + plain, nil
}

// FormatDuration returns the shortest text that ParseDuration parses as d, such as `5m` instead of `5m0s`. Whole years
// are formatted as `20y` and two or more whole days as `30d`. One day is `24h`.
func FormatDuration(d time.Duration) string {
	if d >= year && d%year == 0 && d/year <= maxYears {
		return strconv.FormatInt(int64(d/year), 10) + "y"
	}
	if d >= 2*day && d%day == 0 && d/day <= maxDays {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
