package doctor

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup/archive"
	"deedkeep/app/config"
)

// checkBackupLocation checks whether the last successful backup still exists and whether it is on a different disk than
// the data.
func checkBackupLocation(found *apitypes.Checkup, c config.Config) apitypes.Diagnosis {
	const check = "backup location"
	last := found.Status.LastBackup
	if last == nil {
		return ok(check, "no backup yet")
	}
	if err := findSnapshot(last.To, last.Snapshot); err != nil {
		return bad(check, fmt.Sprintf("the last backup (%s, in %s) can't be read: %v", last.Snapshot, last.To, err),
			"check that the disk or share is mounted; if the backup was deleted, run: deedkeep backup create")
	}
	same, err := sameDevice(c.Data, last.To)
	switch {
	case err != nil:
		return warn(check, "can't determine whether the backups are on a different disk than the data: "+err.Error(),
			"check that "+last.To+" is on a different disk")
	case same:
		return warn(check, last.To+" is on the same disk as the data; if that disk fails, both are lost",
			"set backup.to to another disk, a share, or another machine")
	}
	return ok(check, last.To+", on a different disk than the data")
}

func findSnapshot(to, snapshot string) error {
	a, err := archive.Open(to, archive.Options{})
	if err != nil {
		return err
	}
	names, err := a.Snapshots()
	if err == nil && !slices.Contains(names, snapshot) {
		err = errors.New("the backup is not in the directory")
	}
	return err
}

// checkMissingBackups checks whether earlier backups have vanished from the directory of the last one.
func checkMissingBackups(found *apitypes.Checkup) apitypes.Diagnosis {
	const check = "backups"
	last := found.Status.LastBackup
	if last == nil {
		return ok(check, "no backup yet")
	}
	a, err := archive.Open(last.To, archive.Options{})
	var missing []string
	if err == nil {
		missing, err = a.Missing()
	}
	switch {
	case err != nil:
		return warn(check, "can't list the backups in "+last.To+": "+err.Error(), "check that the disk or share is mounted")
	case len(missing) > 0:
		return bad(check, fmt.Sprintf("backups that deedkeep didn't delete are missing from %s: %s", last.To, strings.Join(missing, ", ")),
			"check that disk, and who can write to it; if you deleted them, run: deedkeep backup prune --forget-missing")
	}
	return ok(check, "no backups are missing from "+last.To)
}

// statBoth returns the file information of both paths, or the first error.
func statBoth(a, b string) (x, y os.FileInfo, err error) {
	if x, err = os.Stat(a); err == nil {
		y, err = os.Stat(b)
	}
	return x, y, err
}
