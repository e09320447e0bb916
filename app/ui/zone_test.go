package ui

import (
	"net/url"
	"testing"
	"time"
	_ "time/tzdata" // as in the program

	"deedkeep/app/vault"
)

// zoned is what shows times in a time zone at 1:44 AM UTC on November 22.
func zoned(t *testing.T, name string) *pages {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 22, 1, 44, 0, 0, time.UTC)
	return &pages{Options: Options{Zone: zone, Now: func() time.Time { return now }}}
}

func TestTimesInTheOfficesZone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ zone, today, when, day string }{
		{"America/New_York", "2026-11-21", "Nov 21, 2026, 8:44 PM EST", "Nov 21, 2026"},
		{"America/Phoenix", "2026-11-21", "Nov 21, 2026, 6:44 PM MST", "Nov 21, 2026"},
		{"UTC", "2026-11-22", "Nov 22, 2026, 1:44 AM UTC", "Nov 22, 2026"},
		{"America/Sao_Paulo", "2026-11-21", "Nov 21, 2026, 10:44 PM UTC-03", "Nov 21, 2026"},
	} {
		p := zoned(t, row.zone)
		if got := p.today(); got != row.today {
			t.Errorf("%s: today is %s, want %s", row.zone, got, row.today)
		}
		const exact = `<time datetime="2026-11-22T01:44:00Z"`
		if got, want := string(p.when(p.Now())), exact+">"+row.when+"</time>"; got != want {
			t.Errorf("%s: got %s, want %s", row.zone, got, want)
		}
		if got, want := string(p.onDay(p.Now())), exact+` title="`+row.when+`">`+row.day+"</time>"; got != want {
			t.Errorf("%s: got %s, want %s", row.zone, got, want)
		}
	}
	p := zoned(t, "America/New_York")
	if got := string(p.when(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))); got != `<time datetime="2026-07-01T12:00:00Z">Jul 1, 2026, 8:00 AM EDT</time>` {
		t.Errorf("in summer: got %s", got)
	}
	failed := vault.BackupHealth{Failed: &vault.BackupFailure{At: p.Now(), Reason: "no"}}
	if got, want := backupWarning(failed, p.now()), "The backup of Nov 21, 2026, 8:44 PM EST was not made: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A day that is asked for is one of the office's zone, with the hour that daylight saving
// adds to it.
func TestAskedDaysInTheOfficesZone(t *testing.T) {
	t.Parallel()
	p := zoned(t, "America/New_York")
	asked := url.Values{"from": {"2026-10-31"}, "to": {"11/1/2026"}} // the clocks go back
	from, to := askedDays(asked, map[string]string{}, p.Zone)
	if got, want := from.UTC().Format(time.RFC3339Nano), "2026-10-31T04:00:00Z"; got != want {
		t.Errorf("from: got %s, want %s", got, want)
	}
	if got, want := to.UTC().Format(time.RFC3339Nano), "2026-11-02T04:59:59.999999Z"; got != want {
		t.Errorf("to: got %s, want %s", got, want)
	}
}
