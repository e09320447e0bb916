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
	const action = `run "deedkeep backup create --to DIR"; for automatic backups, set backup.to and backup.every`
	s := found.Status
	if f := s.BackupFailure; f != nil {
		return bad("backup", fmt.Sprintf("the backup of %s failed: %s", f.At.In(now.Location()).Format("Jan 2, 2006, 3:04 PM MST"),
			f.Reason), "check the backup directory, then run: deedkeep backup create")
	}
	if s.BackupProblem != nil {
		return bad("backup", *s.BackupProblem, "change the owner of the file as listed under owners, then run: deedkeep backup create")
	}
	if s.LastBackupAt == nil {
		if s.Files+s.Abstracts+s.Orders == 0 {
			return warn("backup", "no backup; nothing is stored yet", action)
		}
		return bad("backup", "no backup; if this disk fails, all data is lost", action)
	}
	age := now.Sub(s.LastBackupAt.Time)
	if age < -time.Hour {
		return bad("backup", fmt.Sprintf("the date of the last backup, %s, is in the future",
			s.LastBackupAt.In(now.Location()).Format("Jan 2, 2006, 3:04 PM MST")),
			"correct the clock of this machine, then run: deedkeep backup create")
	}
	message := fmt.Sprintf("the last backup is %s old", FormatAge(age))
	warnAt, badAt := 7*day, 30*day
	if c.Backup.To != "" && c.Backup.Every > 0 {
		warnAt, badAt = 2*c.Backup.Every, max(7*c.Backup.Every, 2*day)
	}
	switch {
	case age > badAt:
		return bad("backup", message, action)
	case age > warnAt:
		return warn("backup", message, action)
	}
	return ok("backup", message)
}

// FormatAge returns an age in hours or days.
func FormatAge(d time.Duration) string {
	if d < 2*day {
		return apitypes.Count(int(d.Hours()), "hour", "hours")
	}
	return apitypes.Count(int(d/day), "day", "days")
}

// checkShutdown checks whether a server was not stopped cleanly.
func checkShutdown(found *apitypes.Checkup, now time.Time) apitypes.Diagnosis {
	if found.UncleanStopAt == nil {
		return ok("shutdown", "no unclean shutdown recorded")
	}
	message := fmt.Sprintf("the server did not shut down cleanly (detected %s)",
		found.UncleanStopAt.In(now.Location()).Format("Jan 2, 2006, 3:04 PM MST"))
	if now.Sub(found.UncleanStopAt.Time) > 30*day {
		return ok("shutdown", message)
	}
	return warn("shutdown", message+"; the process was killed, or the power failed; no confirmed changes were lost",
		`check the system log for that time (power, memory); to check all data, run "deedkeep verify"`)
}

// checkDatabase reports whether the database contents in memory may differ from the file on
// disk.
func checkDatabase(found *apitypes.Checkup) apitypes.Diagnosis {
	const check = "database"
	switch {
	case found.DiskError != "":
		return bad(check, "the disk failed to write vault.db: "+found.DiskError,
			`check the disk and the system log; if the disk is failing, stop the server and copy the data directory to another disk`)
	case found.Unchecked != "":
		return warn(check, "the last shutdown was not clean, and vault.db can't be checked against the disk: "+found.Unchecked,
			"if the disk had an error, restart the machine and then the server; otherwise, you can ignore this")
	case !found.Clean:
		return ok(check, "vault.db was read from disk again after an unclean shutdown")
	}
	return ok(check, "vault.db was closed cleanly")
}

func checkWrites(found *apitypes.Checkup) apitypes.Diagnosis {
	switch denied := found.Status.WritesDenied; {
	case found.Status.ReadOnly:
		return bad("writes", "read-only because of a disk error",
			"check the server log and the disk, create a backup, then restart the server")
	case denied != nil:
		return bad("writes", "disabled: "+*denied, "fix the cause; the server then accepts uploads and changes again automatically")
	}
	return ok("writes", "enabled")
}

func checkProcessing(found *apitypes.Checkup) apitypes.Diagnosis {
	if n := found.Status.Failed; n > 0 {
		return warn("documents", apitypes.Count(n, "document has no preview or text; it", "documents have no preview or text; they")+
			" can still be downloaded", `list the reasons with "deedkeep process list"; retry with "deedkeep process retry"`)
	}
	return ok("documents", fmt.Sprintf("%d stored, %d queued for preview and text", found.Status.Files, found.Status.Queue))
}

// checkOCR checks whether scanned pages are searchable.
func checkOCR(found *apitypes.Checkup, c config.Config, now time.Time) apitypes.Diagnosis {
	s := found.Status
	if s.OCRFiles == 0 {
		return ok("ocr", "no scanned pages are waiting")
	}
	message := fmt.Sprintf("%s of %s can't be searched", apitypes.Count(s.OCRPages, "page", "pages"),
		apitypes.Count(s.OCRFiles, "document", "documents"))
	switch {
	case s.Running && !s.OCREnabled || !s.Running && !c.OCR.Enabled:
		return warn("ocr", message+": OCR is off", "set ocr.enabled: true and restart the server")
	case s.OCRResumesAt != nil:
		return ok("ocr", fmt.Sprintf("%s yet; the server reads them from %s (ocr.hours)", message,
			s.OCRResumesAt.In(now.Location()).Format("Jan 2, 2006, 3:04 PM MST")))
	}
	return ok("ocr", message+" yet; the server reads them in the background")
}
