package integrity_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// replaceBlob replaces a blob with a changed copy. It can't just write to the blob, which
// is read-only.
func replaceBlob(path string, change func([]byte) []byte) error {
	body, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(body), 0o400)
}

func TestVerifyFindsDamagedDocument(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		damage      func(v *instance.Instance, path string) error
		wantProblem string
		wantFile    string
	}{
		{"first bit flipped", func(_ *instance.Instance, path string) error {
			return replaceBlob(path, func(b []byte) []byte { b[0] ^= 1; return b })
		}, "damaged", "2"},
		{"last bit flipped", func(_ *instance.Instance, path string) error {
			return replaceBlob(path, func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b })
		}, "damaged", "2"},
		{"truncated", func(_ *instance.Instance, path string) error {
			return replaceBlob(path, func(b []byte) []byte { return b[:len(b)-1] })
		}, "damaged", "2"},
		{"empty", func(_ *instance.Instance, path string) error {
			return replaceBlob(path, func([]byte) []byte { return nil })
		}, "damaged", "2"},
		{"missing", func(_ *instance.Instance, path string) error { return os.Remove(path) }, "missing", "2"},
		{"record with a wrong size", func(v *instance.Instance, _ string) error {
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
		}, "size in the record is 31 bytes, actual size is 30 bytes", "4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := vaulttest.OpenUnchecked(t, vaulttest.Options(t))
			defer vaulttest.Close(t, v)
			files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
			if r := vaulttest.VerifyReport(t, v); !r.OK() || r.Files != 3 || r.Blobs != 3 || r.Bytes != 90 || r.Orphans+r.Leftovers != 0 {
				t.Fatalf("Verify() of the intact vault = %+v, want 3 files of 90 bytes and no findings", r)
			}
			digest := files[1].Digest
			if err := tt.damage(v, filepath.Join(v.Dir, "blobs", digest[:2], digest)); err != nil {
				t.Fatalf("damage the document: %v", err)
			}
			found := false
			for _, f := range vaulttest.VerifyReport(t, v).Findings {
				switch f.Kind {
				case "file":
					found = f.Subject == tt.wantFile && strings.Contains(f.Problem, tt.wantProblem)
					if !found {
						t.Errorf("finding = %+v, want file %s with %q", f, tt.wantFile, tt.wantProblem)
					}
				case "counter": // if the size in a record is wrong, the counter of bytes differs
				default:
					t.Errorf("finding = %+v, want only findings about files", f)
				}
			}
			if !found {
				t.Errorf("no finding about file %s, want one with %q", tt.wantFile, tt.wantProblem)
			}
		})
	}
}

// Verify counts orphans and files left behind by a crash. They don't count as damage.
func TestVerifyCountsLeftovers(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("Deed.pdf", "a"))
	vaulttest.AddOrphan(t, opts.Dir, []byte("without a record"))
	for _, path := range []string{filepath.Join("tmp", "left"), filepath.Join("blobs", "README"), filepath.Join("blobs", "ab", "half")} {
		if err := os.WriteFile(filepath.Join(opts.Dir, path), []byte("x"), 0o600); err != nil {
			t.Fatalf("write a leftover: %v", err)
		}
	}
	vaulttest.StageDocs(t, v, vaulttest.PDFDoc("Arriving.pdf", "b")) // files of an upload in progress are not leftovers
	r := vaulttest.VerifyReport(t, v)
	if !r.OK() || r.Orphans != 1 || r.Leftovers != 3 || r.Blobs != 1 {
		t.Errorf("Verify() = %+v, want 1 orphan, 3 leftovers, 1 document, and no findings", r)
	}
	if r := vaulttest.VerifyReport(t, v); r.Leftovers != 3 {
		t.Errorf("second Verify(): %d leftovers, want 3", r.Leftovers)
	}
}

// If none of the disks has space for a copy of the database, Verify reads the live
// database. A document that is purged during the verification is not a finding, but a
// missing document is.
func TestVerifyWithoutSpaceForCopy(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	files := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf", "3"))
	v.MinFree = 1<<64 - 1
	if r := vaulttest.VerifyReport(t, v); !r.OK() || r.Blobs != 3 || r.Files != 3 {
		t.Errorf("Verify() = %+v, want 3 documents and no findings", r)
	}
	purge := func() {
		for _, f := range files[:2] {
			if err := v.Files.Trash(t.Context(), vaulttest.Operator, f.ID, vault.Match{}); err != nil {
				t.Fatalf("trash file %d: %v", f.ID, err)
			}
			if _, err := v.Purger.Purge(t.Context(), vaulttest.Operator, "file", f.ID, ""); err != nil {
				t.Fatalf("purge file %d: %v", f.ID, err)
			}
		}
	}
	r, err := v.Integrity.Verify(t.Context(), func(done, _ int) {
		if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) > 0 {
			t.Errorf("temporary files during Verify() = %v, want none", left)
		}
		if done == 1 {
			purge()
		}
	})
	if err != nil || !r.OK() {
		t.Errorf("Verify() during a purge = %+v, %v; want no findings", r, err)
	}
	path := filepath.Join(opts.Dir, "blobs", files[2].Digest[:2], files[2].Digest)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatalf("move the document away: %v", err)
	}
	if r := vaulttest.VerifyReport(t, v); len(r.Findings) != 1 || r.Findings[0].Subject != "3" {
		t.Errorf("findings about a missing document = %+v, want one about file 3", r.Findings)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatalf("move the document back: %v", err)
	}
}

func TestVerifyCanceled(t *testing.T) {
	t.Parallel()
	v, opts := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := v.Integrity.Verify(ctx, func(int, int) { cancel() }); err == nil {
		t.Error("Verify() with a canceled context = nil, want an error")
	}
	if left := vaulttest.FilesUnder(t, opts.Dir, "tmp"); len(left) > 0 {
		t.Errorf("temporary files = %v, want none", left)
	}
}
