package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxRetention is the maximum retention period.
const maxRetention = 100 * year

// ByTemplate parses Templates. It returns the retention period of abstracts by template ID.
func (r Retention) ByTemplate() (map[uint64]time.Duration, error) {
	all := make(map[uint64]time.Duration, len(r.Templates))
	for _, text := range r.Templates {
		id, keep, err := parseRetention(text)
		if err != nil {
			return nil, err
		}
		if _, twice := all[id]; twice {
			return nil, fmt.Errorf("lists template %d twice", id)
		}
		all[id] = keep
	}
	return all, nil
}

func parseRetention(text string) (id uint64, keep time.Duration, err error) {
	template, period, _ := strings.Cut(text, "=")
	id, err = strconv.ParseUint(strings.TrimSpace(template), 10, 63)
	if err != nil || id == 0 {
		return 0, 0, fmt.Errorf("%q must be a template ID and a duration, such as 3=7y", text)
	}
	keep, err = ParseDuration(period)
	if err != nil {
		return 0, 0, fmt.Errorf("%q: %q %w", text, period, err)
	}
	if keep < 0 || keep > maxRetention {
		return 0, 0, fmt.Errorf("%q: must be between 0s and %s", text, FormatDuration(maxRetention))
	}
	return id, keep, nil
}

func checkRetention(r Retention) string {
	if _, err := r.ByTemplate(); err != nil {
		return err.Error()
	}
	return ""
}
