package backup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestBackupThereAndBack(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"), vaulttest.PDFDoc("Again.pdf", "a"))
	to := filepath.Join(t.TempDir(), "b")
	made := vaulttest.CreateBackup(t, v, to)
	if made.Files != 3 || made.Bytes != int64(len(vaulttest.PDF(1, "a"))+len(vaulttest.PDF(1, "b"))) || made.To != to {
		t.Errorf("%+v", made)
	}
	back := vaulttest.RestoreLatest(t, to)
	for i, salt := range []string{"a", "b", "a"} {
		if !bytes.Equal(vaulttest.Content(t, back, files[i].ID), vaulttest.PDF(1, salt)) {
			t.Errorf("file %d differs", files[i].ID)
		}
	}
	if back.Secrets.Fingerprint() != v.Secrets.Fingerprint() {
		t.Error("another secret")
	}
}

// Eight uploaders work while backups are made; every document that was acknowledged
// before a backup began comes back with it, byte for byte.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	var mu sync.Mutex
	acked := map[uint64]string{} // file → salt
	var stop atomic.Bool
	var all sync.WaitGroup
	const each = 100 // that a round adds at most, else what is slow only ever has more to do
	most := each
	for n := range 8 {
		all.Go(func() {
			pause := time.NewTicker(50 * time.Millisecond) // so that they do not outrun the backups
			defer pause.Stop()
			for i := 0; !stop.Load(); i++ {
				<-pause.C
				mu.Lock()
				enough := len(acked) >= most
				mu.Unlock()
				if enough {
					continue
				}
				salt := fmt.Sprintf("%d-%d %s", n, i, strings.Repeat("x", 1<<(i%14)))
				tray, err := v.Files.Stage(context.Background())
				if err == nil {
					if err = tray.Add("Deed.pdf", bytes.NewReader(vaulttest.PDF(1, salt))); err == nil {
						var filed vault.AbstractWithFiles
						if filed, err = v.Files.Upload(context.Background(), vaulttest.Operator, model.UploadDraft{}, tray, vault.Idempotency[vault.AbstractWithFiles]{}); err == nil {
							mu.Lock()
							acked[filed.Files[0].ID] = salt
							mu.Unlock()
						}
					}
					tray.Discard()
				}
				if err != nil {
					t.Errorf("upload: %v", err)
					return
				}
			}
		})
	}
	to := filepath.Join(t.TempDir(), "b")
	for round := range 3 {
		vaulttest.Eventually(t, "more documents", func() bool { mu.Lock(); defer mu.Unlock(); return len(acked) > 20*(round+1) })
		mu.Lock()
		before := map[uint64]string{}
		for id, salt := range acked {
			before[id] = salt
		}
		most = len(acked) + each
		mu.Unlock()
		if made := vaulttest.CreateBackup(t, v, to); int(made.Files) < len(before) {
			t.Errorf("%d files of at least %d", made.Files, len(before))
		}
		back := vaulttest.RestoreLatest(t, to)
		for id, salt := range before {
			if !bytes.Equal(vaulttest.Content(t, back, id), vaulttest.PDF(1, salt)) {
				t.Errorf("file %d differs", id)
			}
		}
	}
	stop.Store(true)
	all.Wait()
	if left, err := os.ReadDir(filepath.Join(opts.Dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
}

// What the snapshot names stays until it is copied, whatever is deleted meanwhile.
func TestNothingIsSweptFromUnderABackup(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("its record goes while the snapshot is being copied"))
	looked := false
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {
		looked = true
		if err := v.Sweeper.Sweep(t.Context()); err != nil {
			t.Errorf("sweep: %v", err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error("it was swept")
		}
	})
	if err != nil || !looked {
		t.Fatalf("%v, %v", looked, err)
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("it was never swept")
	}
}

// The same when the trash is emptied: the backup has what was in it, the vault has not.
func TestNothingIsPurgedFromUnderABackup(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Now, o.Settings.TrashKeep = clock.Now, time.Hour })
	f := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))[0]
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Plat.pdf", "b"))
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, f.ID, vault.Match{}); err != nil {
		t.Fatalf("move file to trash: %v", err)
	}
	to, purged := filepath.Join(t.TempDir(), "b"), false
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {
		if !purged {
			purged = true
			clock.Advance(2 * time.Hour)
			if err := errors.Join(v.Purge(t.Context()), v.Sweeper.Sweep(t.Context())); err != nil {
				t.Errorf("purge: %v", err)
			}
		}
	})
	if err != nil {
		t.Fatalf("purge: %v", err)
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	if left := vaulttest.FilesUnder(t, opts.Dir, "blobs"); len(left) != 1 {
		t.Errorf("the vault still has %v", left)
	}
	back := vaulttest.RestoreLatest(t, to)
	if _, err := back.Files.Restore(t.Context(), vaulttest.Operator, f.ID, vault.Idempotency[model.File]{}); err != nil {
		t.Fatalf("restore file: %v", err)
	}
	if !bytes.Equal(vaulttest.Content(t, back, f.ID), vaulttest.PDF(1, "a")) {
		t.Error("it differs")
	}
}

// A document that is damaged here is in no new backup, unless an earlier one has it.
func TestBackupOfADamagedDocument(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer v.Close() //nolint:errcheck // its damage is the test
	early, late := filepath.Join(t.TempDir(), "early"), filepath.Join(t.TempDir(), "late")
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"))
	vaulttest.CreateBackup(t, v, early)
	path := filepath.Join(opts.Dir, "blobs", files[0].Digest[:2], files[0].Digest)
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("no deed"), 0o600)); err != nil {
		t.Fatalf("chmod: %v", err)
	}
	vaulttest.CreateBackup(t, v, early)
	_, err = v.Backups.Create(t.Context(), vaulttest.Operator, late, func(backup.Progress) {})
	vaulttest.WantKind(t, "a damaged document", err, errs.Conflict)
	if err == nil || !strings.Contains(err.Error(), "file 1 are damaged") {
		t.Errorf("%v", err)
	}
	a, err := archive.Open(late, archive.Options{Now: time.Now})
	if err != nil {
		t.Fatalf("open archive: %v", err)
	}
	if names, err := a.Snapshots(); err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
	if got := vaulttest.FilesUnder(t, late, "blobs"); len(got) != 1 {
		t.Errorf("the sound one was not copied: %v", got)
	}
	// And it comes back from the earlier backup.
	out := filepath.Join(t.TempDir(), "deed.pdf")
	if _, err := backup.RestoreFile(t.Context(), early, archive.Latest, archive.Options{Now: time.Now}, files[0].ID, out); err != nil {
		t.Fatalf("restore file: %v", err)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, vaulttest.PDF(1, "a")) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	rows := []struct {
		name, to string
		want     errs.Kind
	}{
		{"nowhere", "", errs.Invalid},
		{"the data directory", opts.Dir, errs.Invalid},
		{"inside it", filepath.Join(opts.Dir, "tmp", "b"), errs.Invalid},
		{"around it", filepath.Dir(opts.Dir), errs.Invalid},
		{"a file", file, errs.Internal},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := v.Backups.Create(t.Context(), vaulttest.Operator, row.to, func(backup.Progress) {})
			vaulttest.WantKind(t, row.name, err, row.want)
			if err == nil {
				t.Error("it was made")
			}
		})
	}
	t.Run("another is being made", func(t *testing.T) {
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {
			_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "c"), func(backup.Progress) {})
			vaulttest.WantKind(t, "a second", err, errs.Locked)
		})
		if err != nil {
			t.Errorf("create backup: %v", err)
		}
	})
	t.Run("no room", func(t *testing.T) {
		v.MinFree = 1 << 60
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {})
		vaulttest.WantKind(t, "no room", err, errs.InsufficientStorage)
		v.MinFree = 0
	})
}

// Two vaults never share an archive.
func TestBackupOfAnotherVault(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "b")
	first, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateBackup(t, first, to)
	second, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Rand = bytes.NewReader(bytes.Repeat([]byte{7}, 1<<16)) })
	_, err := second.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {})
	vaulttest.WantKind(t, "another vault's", err, errs.Conflict)
	if err == nil || !strings.Contains(err.Error(), "another vault") {
		t.Errorf("%v", err)
	}
}

// A vault that closes ends the backup that is being made, and waits for it.
func TestCloseEndsABackup(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"))
	to := filepath.Join(t.TempDir(), "b")
	closed := make(chan error, 1)
	begun := false
	_, err = v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {
		if !begun {
			begun = true
			go func() { closed <- v.Close() }()
			time.Sleep(50 * time.Millisecond) // The closing can only be heard of, not seen.
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("backup: %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	if left := vaulttest.FilesUnder(t, to, "tmp"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	again, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer again.Close() //nolint:errcheck // nothing was written
	vaulttest.CreateBackup(t, again, to)
}

// The plan: at once, then every so often; after a failure sooner; thinned out.
func TestBackupPlan(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	to := filepath.Join(t.TempDir(), "disk", "b")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour, Keep: archive.Retention{Daily: 2}}
	})
	state := func() backup.State {
		t.Helper()
		s, err := v.Backups.State()
		if err != nil || s.Next == nil {
			t.Fatalf("%+v, %v", s, err)
		}
		return s
	}
	snapshots := func() int {
		t.Helper()
		a, err := archive.Open(to, archive.Options{Now: clock.Now})
		if errors.Is(err, archive.ErrNotFound) {
			return 0
		}
		names, again := a.Snapshots()
		if err := errors.Join(err, again); err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	if err := os.WriteFile(filepath.Dir(to), nil, 0o600); err != nil { // in the way
		t.Fatalf("write file: %v", err)
	}
	v.Backups.RunIfDue(t.Context())
	if s := state(); s.LastGood != nil || s.Failed == nil || !s.Next.Equal(clock.Now().Add(15*time.Minute)) {
		t.Errorf("after a failure: %+v", s)
	}
	if err := os.Remove(filepath.Dir(to)); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	v.Backups.RunIfDue(t.Context())
	if n := snapshots(); n != 0 {
		t.Errorf("%d before its time", n)
	}
	clock.Advance(15 * time.Minute)
	v.Backups.RunIfDue(t.Context())
	if s := state(); s.LastGood == nil || s.Failed != nil || !s.Next.Equal(clock.Now().Add(24*time.Hour)) || snapshots() != 1 {
		t.Errorf("after the first: %+v", s)
	}
	for range 4 {
		clock.Advance(24 * time.Hour)
		v.Backups.RunIfDue(t.Context())
		v.Backups.RunIfDue(t.Context())
	}
	if n := snapshots(); n != 2 {
		t.Errorf("%d stay", n)
	}
}

// While the vault serves, the plan is kept without anybody's doing.
func TestBackupPlanRuns(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "b")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Settings.Backup = backup.Settings{To: to, Every: time.Hour} })
	v.Start(time.Hour)
	vaulttest.Eventually(t, "a backup by the plan", func() bool {
		s, err := v.Backups.State()
		return err == nil && s.LastGood != nil && s.LastGood.To == to
	})
}

// The note of a vault without one, and of one that was cut.
func TestBackupStateOfNothing(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	for _, content := range []string{"", `{"good":`} {
		if content != "" {
			if err := os.WriteFile(filepath.Join(opts.Dir, "backup.json"), []byte(content), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
		}
		s, err := v.Backups.State()
		if raw, _ := json.Marshal(s); err != nil || string(raw) != "{}" || s.Next != nil {
			t.Errorf("%s, %v", raw, err)
		}
	}
}

// A vault that knows recipients only makes backups that it cannot read.
func TestBackupForRecipients(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Settings.Backup.Recipients = []string{"age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"}
	})
	vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Smith.txt", []byte("a deed of Smith")))
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	again := vaulttest.CreateBackup(t, v, to)
	if again.BytesWritten > 20<<10 {
		t.Errorf("%+v", again)
	}
	opts := vaulttest.RestoreOptions(t, to)
	_, err := instance.Restore(t.Context(), opts)
	if !errors.Is(err, archive.ErrDecrypt) {
		t.Errorf("restored without a key: %v", err)
	}
	if _, err := os.Stat(opts.Vault.Dir); !os.IsNotExist(err) {
		t.Errorf("it made something: %v", err)
	}
	for _, path := range vaulttest.FilesUnder(t, to, ".") {
		raw, err := os.ReadFile(path)
		if err != nil || bytes.Contains(raw, []byte("Smith")) || strings.Contains(path, "Smith") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPassphraseFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "phrase")
	set := backup.Settings{PassphraseFile: path}
	if _, err := backup.ArchiveOptions(nil, set, ""); err == nil || !strings.Contains(err.Error(), "backup.passphrase_file") {
		t.Errorf("absent: %v", err)
	}
	for content, want := range map[string]string{"correct horse\n": "correct horse", "two words \r\n": "two words ", "": "", "\n": ""} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		opts, err := backup.ArchiveOptions(nil, set, "")
		if (err != nil) != (want == "") || opts.Encryption.Passphrase != want {
			t.Errorf("%q: %q, %v", content, opts.Encryption.Passphrase, err)
		}
	}
}

// A backup by hand to another disk neither puts the plan off nor hides what became of
// it, be it made or not.
func TestBackupElsewhereLeavesThePlan(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	dir := t.TempDir()
	to, elsewhere, blocked := filepath.Join(dir, "plan"), filepath.Join(dir, "stick"), filepath.Join(dir, "file")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour}
	})
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	v.Backups.RunIfDue(t.Context())
	planned := clock.Now()
	state := func(what, good string, failed bool, next time.Time) {
		t.Helper()
		s, err := v.Backups.State()
		if err != nil || s.Next == nil || !s.Next.Equal(next) || s.LastGood.To != good || (s.Failed != nil) != failed || s.Scheduled.LastGood == nil || s.Scheduled.LastGood.To != to {
			raw, _ := json.Marshal(s)
			t.Errorf("%s: %s, next %v, %v", what, raw, s.Next, err)
		}
	}
	state("the plan's", to, false, planned.Add(24*time.Hour))
	clock.Advance(time.Hour)
	vaulttest.CreateBackup(t, v, elsewhere)
	state("made elsewhere", elsewhere, false, planned.Add(24*time.Hour))
	clock.Advance(23*time.Hour - time.Minute)
	if _, err := v.Backups.Create(t.Context(), vaulttest.Operator, blocked, func(backup.Progress) {}); err == nil {
		t.Fatal("it was made where a file is")
	}
	state("failed elsewhere", elsewhere, true, planned.Add(24*time.Hour))
	vaulttest.CreateBackup(t, v, to)
	state("by hand, to the plan's own", to, false, clock.Now().Add(24*time.Hour))
}

// What an error of a backup is called does not change from one time to the next.
func TestBackupErrorKind(t *testing.T) {
	t.Parallel()
	for range 50 {
		vaulttest.WantKind(t, "full and cut", backup.ClassifyError(errors.Join(archive.ErrDamaged, archive.ErrDiskFull)), errs.InsufficientStorage)
	}
}
