package instance_test

import (
	"os"
	"path/filepath"
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

// Storage counts every part of the data directory.
func TestStorage(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	before, err := v.Storage(t.Context())
	vaulttest.NoError(t, err)
	for name, size := range map[string]int{
		"blobs/00/x": 5000, "previews/00/x/thumbnail": 1, "previews/00/x/text": 4096, "search/x": 9000, "cache/x": 1, "spare": 12288,
	} {
		path := filepath.Join(opts.Dir, filepath.FromSlash(name))
		vaulttest.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		vaulttest.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
	}
	after, err := v.Storage(t.Context())
	vaulttest.NoError(t, err)
	got := [...]int64{after.Documents - before.Documents, after.Texts - before.Texts}
	if want := [...]int64{8192, 4096}; got != want {
		t.Errorf("added documents and texts: %d bytes, want %d", got, want)
	}
	if after.Database == 0 || after.SearchIndex < 12288 || after.Cache < 4096 || after.Other < 12288 || after.Previews-before.Previews < 4096 || !after.Complete {
		t.Errorf("storage = %+v, want the size of each part", after)
	}
}
