package ui

import (
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func TestLateness(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		due, status string
		want        late
	}{
		{"2026-05-27", "active", late{"2 days overdue", "bad"}},
		{"2026-05-28", "active", late{"1 day overdue", "bad"}},
		{"2026-05-29", "active", late{"Due today", "warn"}},
		{"2026-05-30", "active", late{"Due tomorrow", "warn"}},
		{"2026-06-05", "active", late{"Due in 7 days", ""}},
		{"2026-06-06", "active", late{}},
		{"2026-05-27", "completed", late{}},
		{"", "active", late{}},
		{"soon", "active", late{}},
	} {
		if got := lateness(model.Order{DueDate: row.due, Status: row.status}, "2026-05-29"); got != row.want {
			t.Errorf("%s, %s: %+v", row.due, row.status, got)
		}
	}
}

func TestDeskWarnings(t *testing.T) {
	t.Parallel()
	as := func(role model.Role) visitor { return visitor{model.Actor{Kind: model.ActorUser, Role: role}} }
	roomy := vault.Status{DiskFree: 100 << 30, DiskReserve: 1 << 30}
	full := vault.Status{DiskFree: 1, DiskReserve: 1 << 30}
	stuck := roomy
	stuck.ReadOnly = true
	gone := roomy
	gone.Denied = &errs.Error{Kind: errs.Unavailable, Message: "The data directory is gone."}
	missing := vault.BackupHealth{Missing: true}
	for _, row := range []struct {
		name         string
		desk         vault.Desk
		admin, staff int
	}{
		{"all is well", vault.Desk{Status: roomy}, 0, 0},
		{"no backup", vault.Desk{Status: roomy, Backup: missing}, 1, 0},
		{"little room", vault.Desk{Status: roomy, LowDisk: true}, 1, 0},
		{"no room", vault.Desk{Status: full, LowDisk: true}, 1, 1},
		{"read-only", vault.Desk{Status: stuck}, 1, 1},
		{"data directory gone", vault.Desk{Status: gone}, 1, 1},
		{"no room, no backup", vault.Desk{Status: full, Backup: missing}, 2, 1},
	} {
		if got := deskWarnings(row.desk, as(model.RoleAdmin), time.Now()); len(got) != row.admin {
			t.Errorf("%s: an administrator sees %+v", row.name, got)
		}
		if got := deskWarnings(row.desk, as(model.RoleStaff), time.Now()); len(got) != row.staff {
			t.Errorf("%s: staff sees %+v", row.name, got)
		}
	}
}
