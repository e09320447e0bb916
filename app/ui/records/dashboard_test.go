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
	healthy := instance.Status{DiskFree: 100 << 30, DiskReserve: 1 << 30}
	full := instance.Status{DiskFree: 1, DiskReserve: 1 << 30}
	limited := healthy
	limited.Room = instance.Room{Document: 1 << 20, Limited: true}
	readOnly := healthy
	readOnly.ReadOnly = true
	closed := healthy
	closed.Denied = &errs.Error{Kind: errs.Unavailable, Message: "The data directory is gone."}
	noBackup := instance.BackupHealth{Missing: true}
	for _, row := range []struct {
		name         string
		dashboard    instance.Dashboard
		admin, staff int
	}{
		{"healthy", instance.Dashboard{Health: instance.Health{Status: healthy}}, 0, 0},
		{"no backup", instance.Dashboard{Health: instance.Health{Status: healthy, Backup: noBackup}}, 1, 0},
		{"low disk", instance.Dashboard{Health: instance.Health{Status: healthy, LowDisk: true}}, 1, 0},
		{"no room for a large document", instance.Dashboard{Health: instance.Health{Status: limited, LowDisk: true}}, 1, 1},
		{"full disk", instance.Dashboard{Health: instance.Health{Status: full, LowDisk: true}}, 1, 1},
		{"read-only", instance.Dashboard{Health: instance.Health{Status: readOnly}}, 1, 1},
		{"data directory missing", instance.Dashboard{Health: instance.Health{Status: closed}}, 1, 1},
		{"full disk, no backup", instance.Dashboard{Health: instance.Health{Status: full, Backup: noBackup}}, 2, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := dashboardWarnings(row.dashboard, as(model.RoleAdmin), time.Now()); len(got) != row.admin {
				t.Errorf("warnings for an administrator = %+v, want %d", got, row.admin)
			}
			if got := dashboardWarnings(row.dashboard, as(model.RoleStaff), time.Now()); len(got) != row.staff {
				t.Errorf("warnings for staff = %+v, want %d", got, row.staff)
			}
		})
	}
}
