package instance_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/backup/archive"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// openWithScan opens a vault whose backups contain text if text is true. It uploads a scan of three pages, which OCR
// reads, and returns its record and the path of its text.
func openWithScan(t *testing.T, text bool) (v *instance.Instance, file model.File, path string) {
	t.Helper()
	v, _ = vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.OCRReader, o.Settings.Backup.Text = new(vaulttest.FakeOCR), text
	})
	file = vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Scan.pdf", vaulttest.PDF(3, "scan")))[0]
	v.Start(time.Hour)
	vaulttest.WaitOCR(t, v, file.ID)
	return v, vaulttest.File(t, v, file.ID), filepath.Join(v.Dir, "text", file.Digest[:2], file.Digest)
}

// restoreScan restores the latest backup without starting OCR. It returns the result, the restored vault, and the
// text of the document, or nil if there is none.
func restoreScan(t *testing.T, to string, file model.File) (instance.RestoreResult, *instance.Instance, []byte) {
	t.Helper()
	opts := vaulttest.RestoreOptions(t, to)
	opts.Snapshot = archive.Latest
	r, err := instance.Restore(t.Context(), opts)
	vaulttest.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(opts.Vault.Dir, "text", file.Digest[:2], file.Digest))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return r, vaulttest.Open(t, opts.Vault), raw
}

func wantUnread(t *testing.T, v *instance.Instance, file model.File, want int) {
	t.Helper()
	if f := vaulttest.File(t, v, file.ID); f.WaitsForOCR() != (want > 0) || want > 0 && f.OCR != nil && f.PagesWaitingForOCR() > want {
		t.Errorf("OCR of the restored document = %+v, want %d pages queued", f.OCR, want)
	}
}

// A restored document has the text that OCR has read, and isn't queued again. A later backup doesn't copy the text
// again, and a torn end is left out.
func TestRestoreText(t *testing.T) {
	t.Parallel()
	v, file, path := openWithScan(t, true)
	want, err := os.ReadFile(path)
	vaulttest.NoError(t, err)
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	if r := verifyBackup(t, to); len(r.Findings) > 0 || r.Blobs != 1 || r.Orphans > 0 {
		t.Errorf("Verify = %+v, want one document and no findings", r)
	}
	vaulttest.NoError(t, os.WriteFile(path, append(bytes.Clone(want), "torn"...), 0o600))
	again := vaulttest.CreateBackup(t, v, to)
	if len(again.DamagedText) > 0 {
		t.Errorf("second backup = %+v, want no damaged text", again)
	}
	r, restored, raw := restoreScan(t, to, file)
	if !bytes.Equal(raw, want) || r.DamagedTexts != 0 {
		t.Errorf("restored %d bytes of text, want %d", len(raw), len(want))
	}
	wantUnread(t, restored, file, 0)
	blobs, err := filepath.Glob(filepath.Join(to, "blobs", "*", "*"))
	if err != nil || len(blobs) != 2 {
		t.Errorf("the backup contains %v, %v; want the document and its text once", blobs, err)
	}
}

// A backup without text queues the document for OCR when it is restored. It has the format that earlier versions of
// deedkeep can read.
func TestRestoreWithoutText(t *testing.T) {
	t.Parallel()
	v, file, _ := openWithScan(t, false)
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	r, restored, raw := restoreScan(t, to, file)
	if raw != nil || r.Info.Manifest != 1 {
		t.Errorf("restored %d bytes of text, manifest version %d; want none, 1", len(raw), r.Info.Manifest)
	}
	wantUnread(t, restored, file, 3)
}

// Damaged text doesn't prevent a backup. The backup contains the pages before the damage, and the others are read
// again.
func TestBackupOfDamagedText(t *testing.T) {
	t.Parallel()
	v, file, path := openWithScan(t, true)
	raw, err := os.ReadFile(path)
	vaulttest.NoError(t, err)
	raw[len(raw)-2] ^= 1
	vaulttest.NoError(t, os.WriteFile(path, raw, 0o600))
	to := filepath.Join(t.TempDir(), "b")
	if created := vaulttest.CreateBackup(t, v, to); fmt.Sprint(created.DamagedText) != fmt.Sprint([]uint64{file.ID}) {
		t.Errorf("damaged text = %v, want document %d", created.DamagedText, file.ID)
	}
	v.OCR.Prefer(file.ID) // wakes the job
	vaulttest.WaitOCR(t, v, file.ID)
	vaulttest.Verify(t, v)
	_, restored, text := restoreScan(t, to, file)
	if len(text) == 0 || len(text) >= len(raw) {
		t.Errorf("restored %d bytes of text, want the first two pages of %d", len(text), len(raw))
	}
	wantUnread(t, restored, file, 3)
}

// Text that can't be read doesn't prevent a backup, but the backup reports it, even if it could be read
// when the backup started.
func TestBackupOfUnreadableText(t *testing.T) {
	t.Parallel()
	v, file, path := openWithScan(t, true)
	hide := sync.OnceFunc(func() {
		vaulttest.NoError(t, os.Rename(path, path+".aside"))
		vaulttest.NoError(t, os.Mkdir(path, 0o700))
	})
	want := func(list []uint64, progress func(backup.Progress)) {
		t.Helper()
		created, err := v.Backups.Create(t.Context(), vaulttest.Operator, filepath.Join(t.TempDir(), "b"), progress)
		if err != nil || !slices.Equal(created.DamagedText, list) {
			t.Errorf("damaged text = %v, %v; want %v", created.DamagedText, err, list)
		}
	}
	want(nil, func(backup.Progress) {})
	want([]uint64{file.ID}, func(backup.Progress) { hide() })
	want([]uint64{file.ID}, func(backup.Progress) {})
	vaulttest.NoError(t, os.Remove(path))
	vaulttest.NoError(t, os.Rename(path+".aside", path))
	want(nil, func(backup.Progress) {})
}

// Text that is damaged in the backup is a finding of its own kind. It doesn't prevent a restore.
func TestRestoreOfDamagedText(t *testing.T) {
	t.Parallel()
	v, file, path := openWithScan(t, true)
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	text, err := os.ReadFile(path)
	vaulttest.NoError(t, err)
	flipped := 0
	err = filepath.WalkDir(filepath.Join(to, "blobs"), func(blob string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if raw, err := os.ReadFile(blob); err == nil && bytes.Equal(raw, text) {
			flipped++
			raw[len(raw)/2] ^= 1
			return os.WriteFile(blob, raw, 0o600)
		}
		return nil
	})
	if err != nil || flipped != 1 {
		t.Fatalf("damaged %d blobs, %v; want the text", flipped, err)
	}
	if r := verifyBackup(t, to); len(r.Findings) != 1 || r.Findings[0].Kind != "text" || r.Findings[0].Subject != file.Digest {
		t.Errorf("findings = %+v, want the text of %s", r.Findings, file.Digest)
	}
	r, restored, raw := restoreScan(t, to, file)
	if raw != nil || r.DamagedTexts != 1 {
		t.Errorf("restored %d bytes of text, %d damaged; want none, 1", len(raw), r.DamagedTexts)
	}
	wantUnread(t, restored, file, 3)
}

// A snapshot that is encrypted contains the text too, and the drill restores it.
func TestRestoreEncryptedText(t *testing.T) {
	t.Parallel()
	const passphrase = "correct horse battery"
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.OCRReader, o.Settings.Backup = new(vaulttest.FakeOCR), backup.Settings{Text: true, Passphrase: passphrase}
	})
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Scan.pdf", vaulttest.PDF(3, "scan")))[0]
	v.Start(time.Hour)
	vaulttest.WaitOCR(t, v, file.ID)
	to := filepath.Join(t.TempDir(), "b")
	vaulttest.CreateBackup(t, v, to)
	opts := vaulttest.RestoreOptions(t, to)
	opts.Snapshot, opts.Archive.Decryption.Passphrase = archive.Latest, passphrase
	if _, err := instance.Restore(t.Context(), opts); err != nil {
		t.Fatalf("restore: %v", err)
	}
	got, errGot := os.ReadFile(filepath.Join(opts.Vault.Dir, "text", file.Digest[:2], file.Digest))
	want, errWant := os.ReadFile(filepath.Join(v.Dir, "text", file.Digest[:2], file.Digest))
	if errGot != nil || errWant != nil || !bytes.Equal(got, want) {
		t.Errorf("restored %d bytes of text, want %d (%v, %v)", len(got), len(want), errGot, errWant)
	}
}

func verifyBackup(t *testing.T, to string) archive.VerifyReport {
	t.Helper()
	a, err := archive.Open(to, archive.Options{Now: time.Now})
	vaulttest.NoError(t, err)
	r, err := a.Verify(t.Context(), "", vaulttest.NoProgress)
	vaulttest.NoError(t, err)
	return r
}
