package instance

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/integrity"
)

// RestoreTestResult is the outcome of a restore test. Problem is a sentence, or "" if the
// backup can be restored. Report is the verification report of the restored vault.
type RestoreTestResult struct {
	Problem  string
	Info     archive.Info
	Report   integrity.Report
	Duration time.Duration
	// NotDeleted says what of the restored vault couldn't be deleted, or is nil. Files that
	// couldn't be deleted are empty, if they could be written.
	NotDeleted error
}

// OK reports whether the backup can be restored.
func (r RestoreTestResult) OK() bool { return r.Problem == "" }

// TestRestore restores a snapshot into the directory scratch, opens and verifies the
// vault, compares it with the backup, and removes it. The directory must not exist, be
// empty, or be left over from an earlier restore test. If the backup can't be used, the
// result contains a Problem. An error means that the test could not be run. If the vault
// can't be removed, that doesn't change the outcome of the test.
func TestRestore(ctx context.Context, scratch string, opts RestoreOptions) (d RestoreTestResult, err error) {
	if err := removeStaleTest(scratch, opts.Remove); err != nil {
		return d, err
	}
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return d, err
	}
	defer func() { d.NotDeleted = removeTest(scratch, opts.Remove) }()
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
		!errors.Is(err, archive.ErrDecrypt) && !errors.Is(err, archive.ErrForeign) && !errors.Is(err, archive.ErrNewerVersion):
		d.Problem = errs.UserMessage(err)
		return d, nil
	}
	return d, err
}

const restoreTestMarker = "deedkeep-drill"

// removeStaleTest removes the files that an interrupted restore test left behind. It
// returns Conflict if the directory contains anything else.
func removeStaleTest(scratch string, remove func(string) error) error {
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
	return removeTest(scratch, remove)
}

// removeTest removes the directory of a restore test with remove, which is os.Remove if it is
// nil. The marker is last, so that the next test can remove the rest. It removes one file at a
// time, because os.RemoveAll doesn't work on all versions of Windows and Wine. It empties
// files that it can't remove, because they contain decrypted documents.
func removeTest(scratch string, remove func(string) error) error {
	if remove == nil {
		remove = os.Remove
	}
	var paths []string
	data, marker := filepath.Join(scratch, "data"), filepath.Join(scratch, restoreTestMarker)
	err := filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			paths = append(paths, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.Reverse(paths)
	for _, path := range paths {
		if removeErr := remove(path); removeErr != nil {
			err = cmp.Or(err, removeErr)                                 // the errors of the directories above follow from the first one
			_ = errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 0)) // fails for directories
		}
	}
	for _, path := range []string{marker, scratch} {
		if err != nil {
			return err
		}
		if removeErr := remove(path); !errors.Is(removeErr, fs.ErrNotExist) {
			err = removeErr
		}
	}
	return err
}
