package page

import (
	"net/url"
	"testing"
	"time"
)

// Date ranges use the office's time zone. The day on which daylight saving time ends has 25 hours.
func TestDayRangeInOfficeZone(t *testing.T) {
	t.Parallel()
	p := siteInZone(t, "America/New_York")
	params := url.Values{"from": {"2026-10-31"}, "to": {"11/1/2026"}} // daylight saving time ends
	from, to := DayRangeParams(params, map[string]string{}, p.LocalNow())
	if got, want := from.UTC().Format(time.RFC3339Nano), "2026-10-31T04:00:00Z"; got != want {
		t.Errorf("from: got %s, want %s", got, want)
	}
	if got, want := to.UTC().Format(time.RFC3339Nano), "2026-11-02T04:59:59.999999Z"; got != want {
		t.Errorf("to: got %s, want %s", got, want)
	}
}
