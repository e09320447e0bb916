package instance_test

import (
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestStatusCountsRecords(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	s := vaulttest.Status(t, v)
	if s.Folders != 4 || s.Abstracts+s.Orders+s.Files+s.Bytes+s.Queue != 0 || s.DiskFree == 0 {
		t.Errorf("status of a new vault = %+v, want 4 folders and free disk space", s)
	}
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "1"))
	vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("3.pdf", "3"))
	vaulttest.CreateOrder(t, v, "1")
	vaulttest.CreateFolder(t, v, "x", 0)
	wantBytes := uint64(3 * files[0].Size)
	if s = vaulttest.Status(t, v); s.Folders != 5 || s.Abstracts != 1 || s.Orders != 1 || s.Files != 3 || s.Queue != 3 ||
		s.Bytes != wantBytes {
		t.Errorf("status = %+v, want 5 folders, 1 abstract, 1 order, and 3 queued files of %d bytes", s, wantBytes)
	}
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, files[1].ID, vault.Match{}); err != nil {
		t.Fatalf("trash file %d: %v", files[1].ID, err)
	}
	if s = vaulttest.Status(t, v); s.Trashed != 1 || s.Files != 2 {
		t.Errorf("status after a file was trashed = %+v, want 2 files and 1 in the trash", s)
	}
	_, _, err := v.Files.Open(t.Context(), 99)
	vaulttest.WantKind(t, "open an unknown file", err, errs.NotFound)
}
