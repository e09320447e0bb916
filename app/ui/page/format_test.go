package page

import (
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestDueLabel(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		due, status string
		want        dueLabel
	}{
		{"2026-05-27", "active", dueLabel{"2 days overdue", "warn"}},
		{"2026-05-28", "active", dueLabel{"1 day overdue", "warn"}},
		{"2026-05-29", "active", dueLabel{"Due today", "warn"}},
		{"2026-05-30", "active", dueLabel{"Due tomorrow", ""}},
		{"2026-06-05", "active", dueLabel{"Due in 7 days", ""}},
		{"2026-06-06", "active", dueLabel{}},
		{"2026-05-27", "completed", dueLabel{}},
		{"", "active", dueLabel{}},
		{"soon", "active", dueLabel{}},
	} {
		t.Run(row.due, func(t *testing.T) {
			if got := dueLabelOn(model.Order{DueDate: row.due, Status: row.status}, "2026-05-29"); got != row.want {
				t.Errorf("dueLabelOn(%q, %s) = %+v, want %+v", row.due, row.status, got, row.want)
			}
		})
	}
}

func TestFormatCount(t *testing.T) {
	t.Parallel()
	pages := 1234
	for want, n := range map[string]any{"0": 0, "-1,000": -1000, "12,345,678": uint64(12345678), "999": int64(999), "1,234": &pages} {
		if got := FormatCount(n); got != want {
			t.Errorf("FormatCount(%v) = %q, want %q", n, got, want)
		}
	}
}

func TestFormatStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"active": "Active", "on_hold": "On hold", "Needs Curative": "Needs Curative", "eClosed": "eClosed",
		"waiting on client": "waiting on client", "": "", "été": "été",
	} {
		t.Run(status, func(t *testing.T) {
			if got := FormatStatus(status); got != want {
				t.Errorf("FormatStatus(%q) = %q, want %q", status, got, want)
			}
		})
	}
}

// A status has the same color for orders and abstracts.
func TestStatusTone(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"active": "neutral", "on_hold": "warn", "On Hold": "warn", "completed": "good", "Complete": "good", "Delivered": "good",
		"cancelled": "", "Cancelled (by client)": "",
		"void": "", "Withdrawn": "", "In Search": "neutral", "Needs Curative": "warn", "Problem": "warn", "Sold": "neutral", "": "neutral",
	} {
		t.Run(status, func(t *testing.T) {
			if got := statusTone(status); got != want {
				t.Errorf("statusTone(%q) = %q, want %q", status, got, want)
			}
		})
	}
}

// siteInZone returns a site with the given time zone whose clock shows 1:44 AM UTC on November 22,
// 2026.
func siteInZone(t *testing.T, name string) *Site {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatalf("time.LoadLocation: %v", err)
	}
	now := time.Date(2026, 11, 22, 1, 44, 0, 0, time.UTC)
	return &Site{Options: Options{Zone: func() *time.Location { return zone }, Now: func() time.Time { return now }}}
}

func TestTimesInOfficeZone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ zone, today, when, day string }{
		{"America/New_York", "2026-11-21", "Nov 21, 2026, 8:44 PM EST", "Nov 21, 2026"},
		{"America/Phoenix", "2026-11-21", "Nov 21, 2026, 6:44 PM MST", "Nov 21, 2026"},
		{"UTC", "2026-11-22", "Nov 22, 2026, 1:44 AM UTC", "Nov 22, 2026"},
		{"America/Sao_Paulo", "2026-11-21", "Nov 21, 2026, 10:44 PM UTC-03", "Nov 21, 2026"},
	} {
		t.Run(row.zone, func(t *testing.T) {
			p := siteInZone(t, row.zone)
			if got := p.Today(); got != row.today {
				t.Errorf("Today() = %s, want %s", got, row.today)
			}
			const exact = `<time datetime="2026-11-22T01:44:00Z"`
			if got, want := string(p.formatTime(p.Now())), exact+">"+row.when+"</time>"; got != want {
				t.Errorf("formatTime() = %s, want %s", got, want)
			}
			if got, want := string(p.formatDay(p.Now())), exact+` title="`+row.when+`">`+row.day+"</time>"; got != want {
				t.Errorf("formatDay() = %s, want %s", got, want)
			}
		})
	}
	p := siteInZone(t, "America/New_York")
	const summer = `<time datetime="2026-07-01T12:00:00Z">Jul 1, 2026, 8:00 AM EDT</time>`
	if got := string(p.formatTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))); got != summer {
		t.Errorf("formatTime() in summer = %s, want %s", got, summer)
	}
	failed := instance.BackupHealth{Failed: &backup.Failure{At: p.Now(), Reason: "no"}}
	if got, want := BackupWarning(failed, p.LocalNow()), "The backup of Nov 21, 2026, 8:44 PM EST failed: no"; got != want {
		t.Errorf("BackupWarning() = %q, want %q", got, want)
	}
}

// The line of an instrument calls its parties and its status as its type does.
func TestInstrumentLine(t *testing.T) {
	for _, row := range []struct{ name, parties, status string }{
		{"UCC Financing Statement", "(no debtor) to First Bank", "Open"},
		{"Easement or Right of Way", "(no grantor) to First Bank", "In effect"},
		{"Warranty Deed", "(no grantor) to First Bank", "Open"},
	} {
		kind, _ := model.NewDocumentTypes().ByName(row.name)
		line := newInstrumentLine(vault.InstrumentView{Instrument: model.Instrument{Grantees: []string{"First Bank"}}, Type: kind,
			Status: model.InstrumentOpen}, "")
		if line.Parties != row.parties || line.Shown != row.status {
			t.Errorf("%s: %s, %s; want %s, %s", row.name, line.Parties, line.Shown, row.parties, row.status)
		}
	}
	if line := newInstrumentLine(vault.InstrumentView{Status: model.NotApplicable}, ""); line.Shown != "" {
		t.Errorf("status that doesn't apply: %s, want none", line.Shown)
	}
}
