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

var errDuration = errors.New("is not a valid duration; use a value such as 30s, 5m, 24h, 7d, or 20y")

// ParseDuration parses a duration in Go syntax (`1h30m`, `500ms`). It also accepts a number of years (365 days each)
// and days, either alone or followed by a duration in Go syntax (`20y`, `7d`, `1d12h`, `1y30d`).
func ParseDuration(text string) (total time.Duration, err error) {
	rest, units := strings.TrimSpace(text), 0
	for _, unit := range []struct {
		name   string
		length time.Duration
		max    uint64
	}{{"y", year, maxYears}, {"d", day, maxDays}} {
		head, tail, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(head, 10, 16)
		length := time.Duration(n) * unit.length
		if err != nil || n > unit.max || total+length < total {
			return 0, errDuration
		}
		total, rest, units = total+length, tail, units+1
	}
	if units > 0 && rest == "" {
		return total, nil
	}
	plain, err := time.ParseDuration(rest)
	if err != nil || units > 0 && (plain < 0 || total+plain < total || strings.ContainsAny(rest[:1], "+-")) {
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
