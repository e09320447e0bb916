package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"),
		vaulttest.PDFDoc("Again.pdf", "a"))
	to := filepath.Join(t.TempDir(), "b")
	created := vaulttest.CreateBackup(t, v, to)
	wantBytes := int64(len(vaulttest.PDF(1, "a")) + len(vaulttest.PDF(1, "b")))
	if created.Files != 3 || created.Bytes != wantBytes || created.To != to {
		t.Errorf("Create() = %+v, want 3 files and %d bytes in %s", created, wantBytes, to)
	}
	restored := vaulttest.RestoreLatest(t, to)
	for i, salt := range []string{"a", "b", "a"} {
		if !bytes.Equal(vaulttest.Content(t, restored, files[i].ID), vaulttest.PDF(1, salt)) {
			t.Errorf("restored file %d differs", files[i].ID)
		}
	}
	if got, want := restored.Secrets.Fingerprint(), v.Secrets.Fingerprint(); got != want {
		t.Errorf("fingerprint of the restored secret = %v, want %v", got, want)
	}
}

// Eight clients upload documents during the backups. A restored backup contains every
// document that was stored before the backup started, unchanged.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	v.Start(time.Hour)
	var mu sync.Mutex
	uploaded := map[uint64]string{} // file → salt
	var stop atomic.Bool
	var clients sync.WaitGroup
	const perRound = 100 // maximum number of uploads per round, so that slow machines can finish
	maxUploads := perRound
	for n := range 8 {
		clients.Go(func() {
			ticker := time.NewTicker(50 * time.Millisecond) // limits the rate of uploads
			defer ticker.Stop()
			for i := 0; !stop.Load(); i++ {
				<-ticker.C
				mu.Lock()
				enough := len(uploaded) >= maxUploads
				mu.Unlock()
				if enough {
					continue
				}
				salt := fmt.Sprintf("%d-%d %s", n, i, strings.Repeat("x", 1<<(i%14)))
				id, err := uploadPDF(v, salt)
				if err != nil {
					t.Errorf("upload: %v", err)
					return
				}
				mu.Lock()
				uploaded[id] = salt
				mu.Unlock()
			}
		})
	}
	to := filepath.Join(t.TempDir(), "b")
	for round := range 3 {
		vaulttest.Eventually(t, "more documents", func() bool { mu.Lock(); defer mu.Unlock(); return len(uploaded) > 20*(round+1) })
		mu.Lock()
		before := map[uint64]string{}
		for id, salt := range uploaded {
			before[id] = salt
		}
		maxUploads = len(uploaded) + perRound
		mu.Unlock()
		if created := vaulttest.CreateBackup(t, v, to); int(created.Files) < len(before) {
			t.Errorf("backup = %d files, want at least %d", created.Files, len(before))
		}
		restored := vaulttest.RestoreLatest(t, to)
		for id, salt := range before {
			if !bytes.Equal(vaulttest.Content(t, restored, id), vaulttest.PDF(1, salt)) {
				t.Errorf("restored file %d differs", id)
			}
		}
	}
	stop.Store(true)
	clients.Wait()
	if left, err := os.ReadDir(filepath.Join(opts.Dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("files in tmp = %v, %v; want none", left, err)
	}
}

// uploadPDF uploads a document and returns its file ID. It may be called from other
// goroutines than the one that runs the test.
func uploadPDF(v *instance.Instance, salt string) (id uint64, err error) {
	staged, err := v.Files.Stage(context.Background())
	if err != nil {
		return 0, err
	}
	defer staged.Discard()
	if err := staged.Add("Deed.pdf", bytes.NewReader(vaulttest.PDF(1, salt))); err != nil {
		return 0, err
	}
	uploaded, err := v.Files.Upload(context.Background(), vaulttest.Operator, model.UploadDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		return 0, err
	}
	return uploaded.Files[0].ID, nil
}

// A sweep during a backup doesn't delete documents that the backup hasn't copied yet.
func TestSweepWaitsForBackup(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	path := vaulttest.AddOrphan(t, opts.Dir, []byte("its record is deleted during the backup"))
	called := false
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {
		called = true
		if err := v.Sweeper.Sweep(t.Context()); err != nil {
			t.Errorf("sweep: %v", err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("document during the backup: %v, want that it exists", err)
		}
	})
	if err != nil || !called {
		t.Fatalf("Create: %v, progress called: %v; want no error, true", err, called)
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("document after the backup: %v, want that it doesn't exist", err)
	}
}

// A purge during a backup deletes files from the vault, but the backup still contains
// them.
func TestPurgeDuringBackup(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	v, opts := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now, o.Load = clock.Now, vaulttest.With(map[string]string{"trash.keep": "1h"})
	})
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
			if err := errors.Join(v.Purger.PurgeExpired(t.Context()), v.Sweeper.Sweep(t.Context())); err != nil {
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
		t.Errorf("documents in the vault = %v, want 1", left)
	}
	restored := vaulttest.RestoreLatest(t, to)
	if _, err := restored.Files.Restore(t.Context(), vaulttest.Operator, f.ID, vault.Idempotency[model.File]{}); err != nil {
		t.Fatalf("restore file: %v", err)
	}
	if !bytes.Equal(vaulttest.Content(t, restored, f.ID), vaulttest.PDF(1, "a")) {
		t.Error("the restored document differs")
	}
}

// A backup to a new archive doesn't include a damaged document. An archive that already
// has an intact copy keeps it.
func TestBackupWithDamagedDocument(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer v.Close() //nolint:errcheck // the test damages a document
	early, late := filepath.Join(t.TempDir(), "early"), filepath.Join(t.TempDir(), "late")
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"))
	vaulttest.CreateBackup(t, v, early)
	path := filepath.Join(opts.Dir, "blobs", files[0].Digest[:2], files[0].Digest)
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("damaged"), 0o600)); err != nil {
		t.Fatalf("damage document: %v", err)
	}
	// The archive has the document, so the backup doesn't copy it. It still names the document.
	if created := vaulttest.CreateBackup(t, v, early); !slices.Equal(created.Damaged, []uint64{files[0].ID}) {
		t.Errorf("damaged documents of the second backup = %v, want %d", created.Damaged, files[0].ID)
	}
	_, err = v.Backups.Create(t.Context(), vaulttest.Operator, late, func(backup.Progress) {})
	vaulttest.WantKind(t, "a damaged document", err, errs.Conflict)
	if err == nil || !strings.Contains(err.Error(), "document 1 is damaged") {
		t.Errorf("Create: %v, want \"document 1 is damaged\" in it", err)
	}
	a, err := archive.Open(late, archive.Options{Now: time.Now})
	if err != nil {
		t.Fatalf("open archive: %v", err)
	}
	if names, err := a.Snapshots(); err != nil || len(names) != 0 {
		t.Errorf("Snapshots() = %v, %v; want none", names, err)
	}
	if got := vaulttest.FilesUnder(t, late, "blobs"); len(got) != 1 {
		t.Errorf("documents in the archive = %v, want the intact one", got)
	}
	// The document can be restored from the earlier backup.
	out := filepath.Join(t.TempDir(), "deed.pdf")
	if _, err := backup.RestoreFile(t.Context(), early, archive.Latest, archive.Options{Now: time.Now}, files[0].ID, out); err != nil {
		t.Fatalf("restore file: %v", err)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, vaulttest.PDF(1, "a")) {
		t.Errorf("restored document = %q, %v; want the uploaded one", got, err)
	}
}

func TestBackupRejects(t *testing.T) {
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
		{"no directory", "", errs.Invalid},
		{"data directory", opts.Dir, errs.Invalid},
		{"directory in the data directory", filepath.Join(opts.Dir, "tmp", "b"), errs.Invalid},
		{"parent of the data directory", filepath.Dir(opts.Dir), errs.Invalid},
		{"file", file, errs.Conflict},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := v.Backups.Create(t.Context(), vaulttest.Operator, row.to, func(backup.Progress) {})
			vaulttest.WantKind(t, row.name, err, row.want)
			if err == nil {
				t.Errorf("Create(%s) succeeded, want an error", row.to)
			}
		})
	}
	t.Run("during another backup", func(t *testing.T) {
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {
			_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "c"), func(backup.Progress) {})
			vaulttest.WantKind(t, "second backup", err, errs.Locked)
		})
		if err != nil {
			t.Errorf("create backup: %v", err)
		}
	})
	t.Run("no free space", func(t *testing.T) {
		v.MinFree = 1 << 60
		_, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {})
		vaulttest.WantKind(t, "no free space", err, errs.InsufficientStorage)
		v.MinFree = 0
	})
}

// A backup into the archive of another vault is rejected.
func TestBackupToArchiveOfAnotherVault(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "b")
	first, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.CreateBackup(t, first, to)
	second, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.Rand = bytes.NewReader(bytes.Repeat([]byte{7}, 1<<16)) })
	_, err := second.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {})
	vaulttest.WantKind(t, "archive of another vault", err, errs.Conflict)
	if err == nil || !strings.Contains(err.Error(), "belong to server") {
		t.Errorf("Create: %v, want \"belong to server\" in it", err)
	}
}

// Close interrupts a running backup and waits for it.
func TestCloseInterruptsBackup(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"), vaulttest.PDFDoc("Plat.pdf", "b"))
	to := filepath.Join(t.TempDir(), "b")
	closed := make(chan error, 1)
	closing := false
	_, err = v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {
		if !closing {
			closing = true
			go func() { closed <- v.Close() }()
			time.Sleep(50 * time.Millisecond) // there is no sign that Close has started
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Create: got %v, want context canceled", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	if left := vaulttest.FilesUnder(t, to, "tmp"); len(left) > 0 {
		t.Errorf("files in the archive's tmp = %v, want none", left)
	}
	reopened, err := instance.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("open instance: %v", err)
	}
	defer reopened.Close() //nolint:errcheck // nothing was written
	vaulttest.CreateBackup(t, reopened, to)
}

// If an error matches two archive errors, ClassifyError always prefers the same one.
func TestClassifyError(t *testing.T) {
	t.Parallel()
	for range 50 {
		vaulttest.WantKind(t, "full disk and damaged archive",
			backup.ClassifyError(errors.Join(archive.ErrDamaged, archive.ErrDiskFull)), errs.InsufficientStorage)
	}
}
