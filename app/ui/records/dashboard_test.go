package records

import (
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

func TestDashboardWarnings(t *testing.T) {
	t.Parallel()
	as := func(role model.Role) page.Visitor {
		return page.Visitor{Actor: model.Actor{Kind: model.ActorUser, Role: role}}
	}
	roomy := instance.Status{DiskFree: 100 << 30, DiskReserve: 1 << 30}
	full := instance.Status{DiskFree: 1, DiskReserve: 1 << 30}
	stuck := roomy
	stuck.ReadOnly = true
	gone := roomy
	gone.Denied = &errs.Error{Kind: errs.Unavailable, Message: "The data directory is gone."}
	missing := instance.BackupHealth{Missing: true}
	for _, row := range []struct {
		name         string
		desk         instance.Dashboard
		admin, staff int
	}{
		{"all is well", instance.Dashboard{Status: roomy}, 0, 0},
		{"no backup", instance.Dashboard{Status: roomy, Backup: missing}, 1, 0},
		{"little room", instance.Dashboard{Status: roomy, LowDisk: true}, 1, 0},
		{"no room", instance.Dashboard{Status: full, LowDisk: true}, 1, 1},
		{"read-only", instance.Dashboard{Status: stuck}, 1, 1},
		{"data directory gone", instance.Dashboard{Status: gone}, 1, 1},
		{"no room, no backup", instance.Dashboard{Status: full, Backup: missing}, 2, 1},
	} {
		if got := dashboardWarnings(row.desk, as(model.RoleAdmin), time.Now()); len(got) != row.admin {
			t.Errorf("%s: an administrator sees %+v", row.name, got)
		}
		if got := dashboardWarnings(row.desk, as(model.RoleStaff), time.Now()); len(got) != row.staff {
			t.Errorf("%s: staff sees %+v", row.name, got)
		}
	}
}
