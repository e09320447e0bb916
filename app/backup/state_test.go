package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// A state file that can't be read is one line in the status. Scheduled backups continue, but
// none starts over in an empty directory, because that may be a disk that isn't mounted. Every
// backup of an administrator as root left such a file.
func TestUnreadableState(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	to := filepath.Join(t.TempDir(), "b")
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour}
	})
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	vaulttest.CreateBackup(t, v, to)
	path := filepath.Join(opts.Dir, "backup.json")
	// Root can read any file, but not a directory.
	if err := errors.Join(os.Rename(path, path+"-away"), os.Mkdir(path, 0o700)); err != nil {
		t.Fatalf("make backup.json unreadable: %v", err)
	}
	clock.Advance(24 * time.Hour)
	check := func(name string, missing bool) {
		t.Helper()
		h, err := v.Health(t.Context())
		if err != nil || !strings.Contains(h.Backup.Problem, "backup.json") || h.Backup.Missing || (h.Backup.LastGood == nil) != missing {
			t.Errorf("%s: Health() = %+v, %v; want a problem with backup.json, last backup unknown: %v", name, h.Backup, err, missing)
		}
		if _, err := v.Metrics(t.Context()); err != nil {
			t.Errorf("%s: Metrics: %v", name, err)
		}
	}
	check("before a backup", true)
	v.Backups.RunIfDue(t.Context())
	check("after a scheduled backup", false)
	if s := v.Backups.State(); s.Next == nil || !s.Next.Equal(clock.Now().Add(24*time.Hour)) {
		t.Errorf("State() = %+v, want the next backup in 24 hours", s)
	}
	other := filepath.Join(t.TempDir(), "not-mounted")
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, other, func(backup.Progress) {})
	vaulttest.WantKind(t, "empty directory", err, errs.Conflict)
	if err := v.Backups.ForgetArchive(other); err != nil {
		t.Fatalf("ForgetArchive: %v", err)
	}
	vaulttest.CreateBackup(t, v, other) // with --new
	if err := errors.Join(os.Remove(path), os.Rename(path+"-away", path)); err != nil {
		t.Fatalf("make backup.json readable: %v", err)
	}
	vaulttest.CreateBackup(t, v, to)
	if s := v.Backups.State(); s.Problem != "" || s.LastGood == nil || len(s.Archives) != 2 {
		t.Errorf("State() = %+v, want both archives and no problem", s)
	}
}

// When backup.json can be read again, the directories in it are known again, too: a disk that isn't
// mounted doesn't look like a new directory. So is the last good backup if there was none since.
func TestStateReadableAgain(t *testing.T) {
	t.Parallel()
	for _, works := range []bool{true, false} {
		v, opts := vaulttest.OpenVerified(t, nil)
		dir := t.TempDir()
		to, usb := filepath.Join(dir, "b"), filepath.Join(dir, "usb")
		vaulttest.CreateBackup(t, v, to)
		vaulttest.CreateBackup(t, v, usb)
		path := filepath.Join(opts.Dir, "backup.json")
		if err := errors.Join(os.Rename(path, path+"-away"), os.Mkdir(path, 0o700)); err != nil {
			t.Fatalf("make backup.json unreadable: %v", err)
		}
		if works {
			vaulttest.CreateBackup(t, v, to)
		} else {
			_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(dir, "not-mounted"), func(backup.Progress) {})
			vaulttest.WantKind(t, "unknown directory", err, errs.Conflict)
		}
		if err := errors.Join(os.Remove(path), os.Rename(path+"-away", path), os.Rename(usb, usb+"-away")); err != nil {
			t.Fatalf("make backup.json readable: %v", err)
		}
		if s := v.Backups.State(); s.Problem != "" || s.LastGood == nil {
			t.Errorf("State() = %+v, want the last good backup and no problem", s)
		}
		vaulttest.CreateBackup(t, v, to)
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, usb, func(backup.Progress) {})
		vaulttest.WantKind(t, "directory of a disk that isn't mounted", err, errs.Conflict)
	}
}

// A damaged state file is replaced by the next successful backup, not by a failure.
func TestDamagedState(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	if err := os.WriteFile(filepath.Join(opts.Dir, "backup.json"), []byte(`{"good":`), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "not-mounted")
	for range 2 {
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, empty, func(backup.Progress) {})
		vaulttest.WantKind(t, "empty directory", err, errs.Conflict)
		if s := v.Backups.State(); !strings.Contains(s.Problem, "damaged") || s.Failed == nil {
			t.Errorf("State() = %+v, want the failure and that the file is damaged", s)
		}
	}
	vaulttest.CreateBackup(t, v, to)
	if s := v.Backups.State(); s.Problem != "" || s.LastGood == nil || s.Failed != nil {
		t.Errorf("State() = %+v, want a good backup and no problem", s)
	}
}

// The directory of earlier backups knows where newer ones are. A directory that wasn't
// connected at that time learns it from a later backup.
func TestEarlierDirectoriesKnowNewerOnes(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	dir := t.TempDir()
	first, unplugged, second := filepath.Join(dir, "first"), filepath.Join(dir, "usb"), filepath.Join(dir, "second")
	vaulttest.CreateBackup(t, v, first)
	vaulttest.CreateBackup(t, v, unplugged)
	if err := os.Rename(unplugged, unplugged+"-away"); err != nil {
		t.Fatalf("rename: %v", err)
	}
	vaulttest.CreateBackup(t, v, second)
	others := func(dir string, want ...string) {
		t.Helper()
		a, err := archive.Open(dir, archive.Options{})
		if err != nil {
			t.Fatalf("open archive: %v", err)
		}
		if got, err := a.Others(); err != nil || !slices.Equal(got, want) {
			t.Errorf("Others() of %s = %v, %v; want %v", dir, got, err, want)
		}
	}
	others(first, unplugged, second)
	others(unplugged + "-away")
	if err := os.Rename(unplugged+"-away", unplugged); err != nil {
		t.Fatalf("rename: %v", err)
	}
	vaulttest.CreateBackup(t, v, second)
	vaulttest.CreateBackup(t, v, second)
	others(unplugged, second)
	others(second)
}
