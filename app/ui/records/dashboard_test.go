package records

import (
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

func TestDeskWarnings(t *testing.T) {
	t.Parallel()
	as := func(role model.Role) page.Visitor {
		return page.Visitor{Actor: model.Actor{Kind: model.ActorUser, Role: role}}
	}
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
		if got := dashboardWarnings(row.desk, as(model.RoleAdmin), time.Now()); len(got) != row.admin {
			t.Errorf("%s: an administrator sees %+v", row.name, got)
		}
		if got := dashboardWarnings(row.desk, as(model.RoleStaff), time.Now()); len(got) != row.staff {
			t.Errorf("%s: staff sees %+v", row.name, got)
		}
	}
}
