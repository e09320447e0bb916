package integrity_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestVerifyNamesTheDamage(t *testing.T) {
	t.Parallel()
	replace := func(path string, change func([]byte) []byte) error {
		body, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return err
		}
		return os.WriteFile(path, change(body), 0o400)
	}
	tests := []struct {
		name  string
		spoil func(v *instance.Instance, path string) error
		says  string
		file  string // the one that is named
	}{
		{"first bit", func(_ *instance.Instance, path string) error {
			return replace(path, func(b []byte) []byte { b[0] ^= 1; return b })
		}, "damaged", "2"},
		{"last bit", func(_ *instance.Instance, path string) error {
			return replace(path, func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b })
		}, "damaged", "2"},
		{"cut", func(_ *instance.Instance, path string) error {
			return replace(path, func(b []byte) []byte { return b[:len(b)-1] })
		}, "damaged", "2"},
		{"emptied", func(_ *instance.Instance, path string) error {
			return replace(path, func([]byte) []byte { return nil })
		}, "damaged", "2"},
		{"missing", func(_ *instance.Instance, path string) error { return os.Remove(path) }, "missing", "2"},
		{"wrong size on record", func(v *instance.Instance, _ string) error {
			return v.Store.Update(context.Background(), nil, func(tx *store.Tx) error {
				f, err := tx.File(2)
				if err != nil {
					return err
				}
				if f.ID, err = tx.NewFileID(); err != nil {
					return err
				}
				f.Size++
				return tx.PutFile(f)
			})
		}, "its record says 31 bytes, there are 30", "4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			defer vaulttest.Close(t, v)
			files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
			if r := vaulttest.VerifyReport(t, v); !r.OK() || r.Files != 3 || r.Blobs != 3 || r.Bytes != 90 || r.Orphans+r.Leftovers != 0 {
				t.Fatalf("%+v", r)
			}
			digest := files[1].Digest
			if err := tt.spoil(v, filepath.Join(opts.Dir, "blobs", digest[:2], digest)); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range vaulttest.VerifyReport(t, v).Findings {
				switch f.Kind {
				case "file":
					found = f.Subject == tt.file && strings.Contains(f.Problem, tt.says)
					if !found {
						t.Errorf("%+v", f)
					}
				case "counter": // of the bytes, when a record lies about them
				default:
					t.Errorf("%+v", f)
				}
			}
			if !found {
				t.Error("not found")
			}
		})
	}
}

// What a crash leaves behind is counted and is no damage.
func TestVerifyNotes(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	vaulttest.AddOrphan(t, opts.Dir, []byte("of nobody"))
	for _, path := range []string{filepath.Join("tmp", "left"), filepath.Join("blobs", "README"), filepath.Join("blobs", "ab", "half")} {
		if err := os.WriteFile(filepath.Join(opts.Dir, path), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Arriving.pdf", "b")) // is somebody's
	r := vaulttest.VerifyReport(t, v)
	if !r.OK() || r.Orphans != 1 || r.Leftovers != 3 || r.Blobs != 1 {
		t.Errorf("%+v", r)
	}
	if r := vaulttest.VerifyReport(t, v); r.Leftovers != 3 {
		t.Errorf("the first verification left something: %+v", r)
	}
}

// Where no disk has space for a copy, the database itself is read while it changes: a
// document that is purged in the meantime is no damage, and one that is damaged is.
func TestVerifyWithoutACopy(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	v.MinFree = 1<<64 - 1
	if r := vaulttest.VerifyReport(t, v); !r.OK() || r.Blobs != 3 || r.Files != 3 {
		t.Errorf("got %+v; want 3 documents and no findings", r)
	}
	purge := func() {
		for _, f := range files[:2] {
			if err := v.Files.Trash(t.Context(), vaulttest.Operator, f.ID, vault.Match{}); err != nil {
				t.Fatal(err)
			}
			if _, err := v.Trash.Purge(t.Context(), vaulttest.Operator, "file", f.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := v.Integrity.Verify(t.Context(), func(done, _ int) {
		if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) > 0 {
			t.Errorf("tmp has %v", left)
		}
		if done == 1 {
			purge()
		}
	})
	if err != nil || !r.OK() {
		t.Errorf("got %+v, %v; want no findings", r, err)
	}
	path := filepath.Join(opts.Dir, "blobs", files[2].Digest[:2], files[2].Digest)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if r := vaulttest.VerifyReport(t, v); len(r.Findings) != 1 || r.Findings[0].Subject != "3" {
		t.Errorf("got %+v; want one finding about file 3", r.Findings)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyGivenUp(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := v.Integrity.Verify(ctx, func(int, int) { cancel() }); err == nil {
		t.Error("ended as if nothing was")
	}
	if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) > 0 {
		t.Errorf("tmp holds %v", left)
	}
}

func TestStatusCountsWhatWasMade(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	seeded := vaulttest.Status(t, v)
	if seeded.Folders != 4 || seeded.Abstracts+seeded.Orders+seeded.Files+seeded.Bytes+seeded.Queue != 0 || seeded.DiskFree == 0 {
		t.Errorf("%+v", seeded)
	}
	made := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "1"))
	if _, err := v.Abstracts.Create(t.Context(), vaulttest.Operator, model.AbstractDraft{}, vaulttest.StageDocs(t, v, vaulttest.PDFDoc("3.pdf", "3")), vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Orders.Create(t.Context(), vaulttest.Operator, model.OrderDraft{Number: model.StringInput("1")}, vault.Idempotency[model.Order]{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Folders.Create(t.Context(), vaulttest.Operator, model.FolderDraft{Name: model.StringInput("x")}, vault.Idempotency[model.Folder]{}); err != nil {
		t.Fatal(err)
	}
	s := vaulttest.Status(t, v)
	if s.Folders != 5 || s.Abstracts != 1 || s.Orders != 1 || s.Files != 3 || s.Queue != 3 || s.Bytes != uint64(3*made[0].Size) {
		t.Errorf("%+v", s)
	}
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, made[1].ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	if s := vaulttest.Status(t, v); s.Trashed != 1 || s.Files != 2 {
		t.Errorf("after one went: %+v", s)
	}
	_, _, err := v.Files.Open(t.Context(), 99)
	vaulttest.WantKind(t, "unknown file", err, errs.NotFound)
}
