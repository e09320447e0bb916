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

// RestoreTestResult is what a drill came to. Problem is a sentence, "" where the backup would
// save the firm; the Report is then that of the vault it gave back.
type RestoreTestResult struct {
	Problem  string
	Info     archive.Info
	Report   integrity.Report
	Duration time.Duration
}

// OK reports whether the backup would save the firm.
func (d RestoreTestResult) OK() bool { return d.Problem == "" }

// TestRestore restores a snapshot into the folder scratch, which must be absent or an
// earlier drill's, opens the vault there, verifies every byte, compares it with what
// was backed up, removes it, and says whether this backup would save the firm. A
// backup that would not is no error; what kept the drill from being held is.
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
	begun := time.Now()
	opts.Vault.Dir = filepath.Join(scratch, "data")
	r, err := Restore(ctx, opts)
	d.Info, d.Report, d.Duration = r.Info, r.Report, time.Since(begun)
	switch {
	case err == nil:
		return d, nil
	case ctx.Err() != nil:
		return d, ctx.Err()
	case errors.Is(err, archive.ErrDamaged), errors.Is(err, ErrDamaged), errs.KindOf(err) == errs.Conflict && !errors.Is(err, archive.ErrDecrypt) && !errors.Is(err, archive.ErrForeign):
		d.Problem = txn.UserMessage(err)
		return d, nil
	}
	return d, err
}

const restoreTestMarker = "deedkeep-drill"

// removeStaleTest removes what a drill that was cut off has left, and nothing else.
func removeStaleTest(scratch string) error {
	entries, err := os.ReadDir(scratch)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(scratch, restoreTestMarker)); err != nil {
		return backup.Conflict("%s is not empty, and no drill made it: choose an absent folder with --scratch", scratch)
	}
	return os.RemoveAll(scratch)
}
