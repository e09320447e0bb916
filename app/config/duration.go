package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var errDuration = errors.New("is not a duration; write it like 30s, 5m, 24h or 7d")

// ParseDuration reads Go's durations (`1h30m`, `500ms`) and whole days in front of one (`7d`, `1d12h`).
func ParseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
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

// FormatDuration is the shortest text that ParseDuration reads as d: `5m`, not `5m0s`; hours stay hours.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
