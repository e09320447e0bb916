package instance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/integrity"
	"deedkeep/app/txn"
)

// RestoreTestResult is the outcome of a restore test. Problem is a sentence, or "" if the
// backup can be restored. Report is the verification report of the restored vault.
type RestoreTestResult struct {
	Problem  string
	Info     archive.Info
	Report   integrity.Report
	Duration time.Duration
}

// OK reports whether the backup can be restored.
func (d RestoreTestResult) OK() bool { return d.Problem == "" }

// TestRestore restores a snapshot into the directory scratch, opens and verifies the
// vault, compares it with the backup, and removes it. The directory must not exist, be
// empty, or be left over from an earlier restore test. If the backup can't be used, the
// result contains a Problem. An error means that the test could not be run.
func TestRestore(ctx context.Context, scratch string, opts RestoreOptions) (d RestoreTestResult, err error) {
	if err := removeStaleTest(scratch); err != nil {
		return d, err
	}
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := os.WriteFile(filepath.Join(scratch, restoreTestMarker), nil, 0o600); err != nil {
		return d, err
	}
	started := time.Now()
	opts.Vault.Dir = filepath.Join(scratch, "data")
	r, err := Restore(ctx, opts)
	d.Info, d.Report, d.Duration = r.Info, r.Report, time.Since(started)
	switch {
	case err == nil:
		return d, nil
	case ctx.Err() != nil:
		return d, ctx.Err()
	case errors.Is(err, archive.ErrDamaged), errors.Is(err, ErrDamaged), errs.KindOf(err) == errs.Conflict &&
		!errors.Is(err, archive.ErrDecrypt) && !errors.Is(err, archive.ErrForeign):
		d.Problem = txn.UserMessage(err)
		return d, nil
	}
	return d, err
}

const restoreTestMarker = "deedkeep-drill"

// removeStaleTest removes the files that an interrupted restore test left behind. It
// returns Conflict if the directory contains anything else.
func removeStaleTest(scratch string) error {
	entries, err := os.ReadDir(scratch)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(scratch, restoreTestMarker)); err != nil {
		return backup.Conflict("%s is not empty and not from an earlier restore test; choose a new folder with --scratch", scratch)
	}
	return os.RemoveAll(scratch)
}
