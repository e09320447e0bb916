package doctor

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup/archive"
	"deedkeep/app/config"
)

// checkBackupLocation checks whether the last successful backup still exists and whether it is on a different disk than
// the data.
func checkBackupLocation(found *apitypes.Checkup, c config.Config) apitypes.Diagnosis {
	const check = "place of the backups"
	last := found.Status.LastBackup
	if last == nil {
		return ok(check, "no backup was made yet")
	}
	if err := findSnapshot(last.To, last.Snapshot); err != nil {
		return bad(check, fmt.Sprintf("the last good one (%s, in %s) cannot be seen: %v", last.Snapshot, last.To, err),
			"see whether the disk or share is mounted and who removed it, then: deedkeep backup create")
	}
	same, err := sameDevice(c.Data, last.To)
	switch {
	case err != nil:
		return warn(check, "whether it is another disk than that of the data cannot be told: "+err.Error(),
			"see whether "+last.To+" is on another disk")
	case same:
		return warn(check, last.To+" is on the same disk as the data: one failure takes both",
			"back up to another disk, a share, or another machine (backup.to)")
	}
	return ok(check, last.To+", on another disk than the data")
}

func findSnapshot(to, snapshot string) error {
	a, err := archive.Open(to, archive.Options{})
	if err != nil {
		return err
	}
	names, err := a.Snapshots()
	if err == nil && !slices.Contains(names, snapshot) {
		err = errors.New("it is not among those that are there")
	}
	return err
}

// statBoth returns the file information of both paths, or the first error.
func statBoth(a, b string) (x, y os.FileInfo, err error) {
	if x, err = os.Stat(a); err == nil {
		y, err = os.Stat(b)
	}
	return x, y, err
}
