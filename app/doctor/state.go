package doctor

import (
	"fmt"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

const day = 24 * time.Hour

// checkBackup checks the age of the last successful backup and reports a failure since
// then.
func checkBackup(found *apitypes.Checkup, c config.Config, now time.Time) apitypes.Diagnosis {
	const do = `"deedkeep backup create --to DIR" makes one; backup.to and backup.every make them by themselves`
	s := found.Status
	if f := s.BackupFailure; f != nil {
		return bad("backup", fmt.Sprintf("the one of %s was not made: %s", f.At.In(now.Location()).Format("2006-01-02 15:04 MST"),
			f.Reason), "see to the place it goes to, then: deedkeep backup create")
	}
	if s.LastBackupAt == nil {
		if s.Files+s.Abstracts+s.Orders == 0 {
			return warn("backup", "there is none; nothing is stored yet", do)
		}
		return bad("backup", "there is none: what is stored is lost with this disk", do)
	}
	age := now.Sub(s.LastBackupAt.Time)
	if age < -time.Hour {
		return bad("backup", fmt.Sprintf("the last good one is of %s, which is still to come: how old it is cannot be told",
			s.LastBackupAt.In(now.Location()).Format("2006-01-02 15:04 MST")),
			"set the clock of this machine right, then: deedkeep backup create")
	}
	says := fmt.Sprintf("the last good one is %s old", formatAge(age))
	warnAt, badAt := 7*day, 30*day
	if c.Backup.To != "" && c.Backup.Every > 0 {
		warnAt, badAt = 2*c.Backup.Every, max(7*c.Backup.Every, 2*day)
	}
	switch {
	case age > badAt:
		return bad("backup", says, do)
	case age > warnAt:
		return warn("backup", says, do)
	}
	return ok("backup", says)
}

func formatAge(d time.Duration) string {
	if d < 2*day {
		return apitypes.Count(int(d.Hours()), "hour", "hours")
	}
	return apitypes.Count(int(d/day), "day", "days")
}

// checkShutdown checks whether a server was not stopped cleanly.
func checkShutdown(found *apitypes.Checkup, now time.Time) apitypes.Diagnosis {
	if found.CutAt == nil {
		return ok("stops", "every server stopped by itself")
	}
	says := fmt.Sprintf("a server did not stop cleanly (known since %s)", found.CutAt.In(now.Location()).Format("2006-01-02 15:04 MST"))
	if now.Sub(found.CutAt.Time) > 30*day {
		return ok("stops", says)
	}
	return warn("stops", says+": it was killed, or the power failed. Nothing that was acknowledged is lost by that",
		`see the system's log for that time (power, memory); "deedkeep verify" reads everything`)
}

// checkDatabase reports whether the database contents in memory may differ from the file on
// disk.
func checkDatabase(found *apitypes.Checkup) apitypes.Diagnosis {
	const check = "database"
	switch {
	case found.DiskError != "":
		return bad(check, "the disk failed to write vault.db: "+found.DiskError,
			`check the disk and the system's log; to continue elsewhere, stop the server and copy the data directory to another disk`)
	case found.Unchecked != "":
		return warn(check, "the last stop was not clean, and vault.db can't be checked against the disk: "+found.Unchecked,
			"if the disk had an error, restart the machine before the server; otherwise, nothing to do")
	case !found.Clean:
		return ok(check, "vault.db was read from the disk again after a stop that was not clean")
	}
	return ok(check, "the last session with vault.db ended cleanly")
}

func checkWrites(found *apitypes.Checkup) apitypes.Diagnosis {
	switch denied := found.Status.WritesDenied; {
	case found.Status.ReadOnly:
		return bad("writes", "refused since the disk failed to keep something",
			"see the log and the disk's health, make a backup, then restart the server")
	case denied != nil:
		return bad("writes", "denied: "+*denied, "the server accepts uploads and new records again as soon as the cause is gone")
	}
	return ok("writes", "taken")
}

func checkProcessing(found *apitypes.Checkup) apitypes.Diagnosis {
	if n := found.Status.Failed; n > 0 {
		return warn("documents", apitypes.Count(n, "has no preview or text; it", "have no preview or text; they")+
			" can still be downloaded", `"deedkeep process list" says why, "deedkeep process retry" tries again`)
	}
	return ok("documents", fmt.Sprintf("%d stored, %d wait for picture and text", found.Status.Files, found.Status.Queue))
}
