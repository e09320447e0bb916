package integrity_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/ocr"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// readScan uploads a scan and reads its pages. It returns the record and the path of the results.
func readScan(t *testing.T, v *instance.Instance) (model.File, string) {
	t.Helper()
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Scan.pdf", vaulttest.PDF(3, "scan")))[0]
	v.Start(time.Hour)
	vaulttest.WaitOCR(t, v, file.ID)
	return vaulttest.File(t, v, file.ID), filepath.Join(v.Dir, "text", file.Digest[:2], file.Digest)
}

// damageEnd damages the last page of the OCR results at a path, and returns what they are then.
func damageEnd(t *testing.T, file model.File, path string) (damaged []byte, digest blobstore.Digest) {
	t.Helper()
	damaged, err := os.ReadFile(path)
	vaulttest.NoError(t, err)
	damaged[len(damaged)-2] ^= 1
	vaulttest.NoError(t, os.WriteFile(path, damaged, 0o600))
	digest, err = blobstore.ParseDigest(file.Digest)
	vaulttest.NoError(t, err)
	return damaged, digest
}

func openWithFakeOCR(t *testing.T) (*instance.Instance, *vaulttest.FakeOCR) {
	t.Helper()
	reader := new(vaulttest.FakeOCR)
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) { o.OCRReader = reader })
	return v, reader
}

// Damaged OCR results are found. A repair reads only the lost pages again.
func TestDamagedOCRResultsAreRepaired(t *testing.T) {
	t.Parallel()
	v, reader := openWithFakeOCR(t)
	file, path := readScan(t, v)
	raw, err := os.ReadFile(path)
	vaulttest.NoError(t, err)
	damaged := bytes.Clone(raw)
	damaged[len(damaged)-2] ^= 1
	vaulttest.NoError(t, os.WriteFile(path, damaged, 0o600))
	orphan := filepath.Join(v.Dir, "text", "ef", strings.Repeat("ef", 32))
	vaulttest.NoError(t, os.MkdirAll(filepath.Dir(orphan), 0o700))
	vaulttest.NoError(t, os.WriteFile(orphan, raw, 0o600))
	report, err := v.Integrity.Verify(t.Context(), func(int, int) {})
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Kind != "ocr" || report.Findings[0].Subject != "file 1" {
		t.Fatalf("Verify = %+v, %v; want one finding about file 1", report.Findings, err)
	}
	result, err := v.Integrity.Repair(t.Context(), vaulttest.Operator, func(int, int) {})
	if err != nil || result.OCRQueued != 1 || !result.Report.OK() {
		t.Fatalf("Repair = %+v, %v; want one queued document", result, err)
	}
	v.OCR.Prefer(file.ID) // wakes the job
	vaulttest.WaitOCR(t, v, file.ID)
	if n := len(reader.Calls()); n != 4 {
		t.Errorf("%d pages were read, want 3 and one again", n)
	}
	if _, err := os.Stat(orphan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("results without a document: %v, want them removed", err)
	}
}

// Damaged OCR results are cut off only after their document is queued. So a server that stops in
// between doesn't leave pages out.
func TestDamagedOCRResultsAreQueuedFirst(t *testing.T) {
	t.Parallel()
	v, _ := openWithFakeOCR(t)
	file, path := readScan(t, v)
	raw, digest := damageEnd(t, file, path)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := v.Integrity.RereadOCR(stopped, digest, []model.File{file}); !errors.Is(err, context.Canceled) {
		t.Fatalf("RereadOCR = %v, want %v", err, context.Canceled)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, raw) {
		t.Errorf("%d bytes of results, %v; want %d, because the document isn't queued", len(now), err, len(raw))
	}
	lost, err := v.Integrity.RereadOCR(t.Context(), digest, []model.File{file})
	if err != nil || !lost {
		t.Errorf("RereadOCR = %t, %v; want lost pages", lost, err)
	}
	v.OCR.Prefer(file.ID) // wakes the job
	vaulttest.WaitOCR(t, v, file.ID)
	vaulttest.Verify(t, v)
}

// Damaged OCR results stay as they are if the vault isn't writable, here because it is closed: their
// document can't be queued.
func TestDamagedOCRResultsOfClosedVault(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	opts.OCRReader = new(vaulttest.FakeOCR)
	v := vaulttest.OpenUnchecked(t, opts)
	file, path := readScan(t, v)
	raw, digest := damageEnd(t, file, path)
	vaulttest.Close(t, v)
	if _, err := v.Integrity.RereadOCR(t.Context(), digest, []model.File{file}); !errs.NotWritable(err) {
		t.Fatalf("RereadOCR = %v, want an error of a vault that isn't writable", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, raw) {
		t.Errorf("%d bytes of results, %v; want %d, because the document isn't queued", len(now), err, len(raw))
	}
}

// OCR results that are missing, as after a restore, are not damage. The pages are read again.
func TestMissingOCRResultsAreQueued(t *testing.T) {
	t.Parallel()
	v, reader := openWithFakeOCR(t)
	file, path := readScan(t, v)
	vaulttest.NoError(t, os.Remove(path))
	vaulttest.Verify(t, v)
	v.OCR.Prefer(file.ID)
	vaulttest.Eventually(t, "all pages again", func() bool { return len(reader.Calls()) == 6 && !vaulttest.File(t, v, file.ID).WaitsForOCR() })
}

// The sweeper removes OCR results together with the document.
func TestSweepRemovesOCRResults(t *testing.T) {
	t.Parallel()
	v, _ := openWithFakeOCR(t)
	stray := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("Scan.pdf", vaulttest.PDF(3, "scan")))[0]
	vaulttest.NoError(t, v.Texts.Put(stray.Digest, map[int]ocr.Page{1: vaulttest.FakeOCRPage(1)}))
	vaulttest.NoError(t, v.Files.Trash(t.Context(), vaulttest.Operator, stray.ID, vault.Match{}))
	if _, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "file", stray.ID, ""); err != nil {
		t.Fatalf("purge: %v", err)
	}
	vaulttest.NoError(t, v.Sweeper.Sweep(t.Context()))
	vaulttest.WantNoDocuments(t, v.Dir)
	if _, err := os.Stat(filepath.Join(v.Dir, "text", stray.Digest[:2], stray.Digest)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OCR results: %v, want them removed", err)
	}
}
