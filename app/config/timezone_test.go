package config

import (
	"testing"
	"time"
)

func TestLocation(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 44, 0, 0, time.UTC)
	for _, row := range []struct{ name, zone, want string }{
		{"the machine's own", "", at.Local().Format(time.RFC3339)},
		{"New York in winter", "America/New_York", "2026-11-21T20:44:00-05:00"},
		{"the old name of a zone", "US/Pacific", "2026-11-21T17:44:00-08:00"},
		{"UTC", "UTC", "2026-11-22T01:44:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Default()
			c.TimeZone = row.zone
			if err := validate(c); err != nil {
				t.Errorf("validate the time zone %q: %v", row.zone, err)
			}
			if got := at.In(c.Location()).Format(time.RFC3339); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
