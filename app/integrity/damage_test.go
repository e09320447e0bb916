package integrity_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vault/storage"
	"deedkeep/app/vaulttest"
)

// blobPath returns the path of a document on disk.
func blobPath(dir string, file model.File) string {
	return filepath.Join(dir, "blobs", file.Digest[:2], file.Digest)
}

// changeBlob changes a document on disk. It also changes the modification time, so that the
// change is detected even if the file system's clock hasn't advanced since the upload.
func changeBlob(t *testing.T, dir string, file model.File, change func([]byte) []byte) {
	t.Helper()
	path := blobPath(dir, file)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the blob: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatalf("make the blob writable: %v", err)
	}
	if err := os.WriteFile(path, change(content), 0o600); err != nil {
		t.Fatalf("change the blob: %v", err)
	}
	modified := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatalf("set the modification time of the blob: %v", err)
	}
}

// flipBit returns a copy of content with one bit flipped.
func flipBit(content []byte) []byte {
	content = bytes.Clone(content)
	content[len(content)/2] ^= 4
	return content
}

// largeDoc returns a document that is too large to be verified before it is sent.
func largeDoc(text string) vaulttest.Doc {
	body := bytes.Repeat([]byte(text), 300<<10/len(text))
	return vaulttest.NewDoc("large "+text[:1]+".txt", body)
}

// damagedRecords returns the records that have an audit log entry about damage.
func damagedRecords(t *testing.T, v *instance.Instance) (records []string) {
	t.Helper()
	page, err := v.Events.List(t.Context(), store.Query{Limit: 1000})
	if err != nil {
		t.Fatalf("list the audit log: %v", err)
	}
	for _, e := range page.Items {
		if e.Kind == "file.damaged" {
			records = append(records, e.Record)
		}
	}
	return records
}

// wantDamagedRecords checks which records have an audit log entry about damage.
func wantDamagedRecords(t *testing.T, v *instance.Instance, want ...string) {
	t.Helper()
	if got := damagedRecords(t, v); !slices.Equal(got, want) {
		t.Errorf("audit entries about damage = %q, want %q", got, want)
	}
}

// wantDamageCount checks the number of damaged documents in the vault's status.
func wantDamageCount(t *testing.T, v *instance.Instance, want int) {
	t.Helper()
	if got := int(vaulttest.Status(t, v).Damaged); got != want {
		t.Errorf("damaged documents = %d, want %d", got, want)
	}
}

func isDamaged(err error) bool {
	_, ok := errors.AsType[*storage.DamagedError](err)
	return ok
}

// Damage is logged once, even if the document is opened again or the server is restarted.
// Uploading the same content repairs the document. If it is damaged again, that is logged
// again.
func TestDamageIsLoggedOnceUntilRepaired(t *testing.T) {
	for _, tt := range []struct {
		name           string
		doc            vaulttest.Doc
		change         func([]byte) []byte
		foundWhileRead bool // the first Open succeeds, but reading fails
	}{
		{"small, bit flipped", vaulttest.PDFDoc("a.pdf", "small"), flipBit, false},
		{"small, empty", vaulttest.PDFDoc("a.pdf", "small"), func([]byte) []byte { return nil }, false},
		{"large, bit flipped", largeDoc("deed "), flipBit, true},
		{"large, truncated", largeDoc("deed "), func(b []byte) []byte { return b[:len(b)-1] }, false},
		{"large, longer", largeDoc("deed "), func(b []byte) []byte { return append(bytes.Clone(b), 'x') }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, opts, clock := openWithScrub(t)
			file := vaulttest.UploadDocs(t, v, tt.doc)[0]
			changeBlob(t, opts.Dir, file, tt.change)
			if tt.foundWhileRead {
				wantReadError(t, v, file, len(tt.doc.Body))
			}
			for range 3 {
				if _, _, err := v.Files.Open(t.Context(), file.ID); !isDamaged(err) {
					t.Fatalf("Open() = %v, want a DamagedError", err)
				}
			}
			wantDamagedRecords(t, v, "file:1")
			wantDamageCount(t, v, 1)
			if err := v.Files.KnownDamage(file); !isDamaged(err) {
				t.Errorf("KnownDamage() = %v, want a DamagedError", err)
			}

			vaulttest.Close(t, v)
			v = vaulttest.OpenUnchecked(t, opts)
			defer vaulttest.Close(t, v)
			v.Integrity.Recheck(t.Context())
			if got := v.Damaged(); len(got) != 1 || got[0].FileID != file.ID || !got[0].Logged {
				t.Errorf("Damaged() after a restart = %+v, want file %d, logged", got, file.ID)
			}
			wantDamagedRecords(t, v, "file:1")

			vaulttest.UploadDocs(t, v, tt.doc) // same content
			wantDamageCount(t, v, 0)
			if got := vaulttest.Content(t, v, file.ID); !bytes.Equal(got, tt.doc.Body) {
				t.Errorf("content after the upload: got %d bytes, want the %d original bytes", len(got), len(tt.doc.Body))
			}
			clock.Advance(time.Hour)
			changeBlob(t, opts.Dir, file, flipBit)
			scrubStep(t, v)
			wantDamagedRecords(t, v, "file:1", "file:1")
		})
	}
}

// wantReadError opens a damaged document and checks that reading it fails before the end.
func wantReadError(t *testing.T, v *instance.Instance, file model.File, size int) {
	t.Helper()
	_, body, err := v.Files.Open(t.Context(), file.ID)
	if err != nil {
		t.Fatalf("open file %d: %v", file.ID, err)
	}
	got, err := io.ReadAll(body)
	if err := body.Close(); err != nil {
		t.Errorf("close file %d: %v", file.ID, err)
	}
	if err == nil || len(got) >= size {
		t.Errorf("read %d of %d bytes, error %v; want fewer bytes and an error", len(got), size, err)
	}
}

// If an administrator restores a damaged document on disk, the next read finds it intact.
func TestDamageIsClearedAfterManualRestore(t *testing.T) {
	for name, doc := range map[string]vaulttest.Doc{"small": vaulttest.PDFDoc("a.pdf", "small"), "large": largeDoc("deed ")} {
		t.Run(name, func(t *testing.T) {
			v, opts, clock := openWithScrub(t)
			file := vaulttest.UploadDocs(t, v, doc)[0]
			changeBlob(t, opts.Dir, file, flipBit)
			scrubStep(t, v)
			wantDamageCount(t, v, 1)
			changeBlob(t, opts.Dir, file, func([]byte) []byte { return doc.Body })
			clock.Advance(time.Hour)
			if got := vaulttest.Content(t, v, file.ID); !bytes.Equal(got, doc.Body) {
				t.Errorf("content: got %d bytes, want the %d original bytes", len(got), len(doc.Body))
			}
			wantDamageCount(t, v, 0)
		})
	}
}

func TestMissingBlobIsDamage(t *testing.T) {
	v, opts, _ := openWithScrub(t)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "missing"))[0]
	if err := os.Remove(blobPath(opts.Dir, file)); err != nil {
		t.Fatalf("remove the blob: %v", err)
	}
	if _, _, err := v.Files.Open(t.Context(), file.ID); !isDamaged(err) {
		t.Errorf("Open() = %v, want a DamagedError", err)
	}
	_, _, err := v.Files.Open(t.Context(), 99)
	vaulttest.WantKind(t, "open an unknown file", err, errs.NotFound)
	if got := len(v.Damaged()); got != 1 {
		t.Errorf("len(Damaged()) = %d, want 1", got)
	}
}

func TestPurgeClearsDamage(t *testing.T) {
	v, opts, clock := openWithScrub(t)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "purged"))[0]
	changeBlob(t, opts.Dir, file, flipBit)
	scrubStep(t, v)
	if err := v.Files.Trash(t.Context(), vaulttest.Operator, file.ID, vault.Match{}); err != nil {
		t.Fatalf("trash file %d: %v", file.ID, err)
	}
	clock.Advance(31 * day)
	if err := v.Purger.PurgeExpired(t.Context()); err != nil {
		t.Fatalf("purge: %v", err)
	}
	if err := v.Sweeper.Sweep(t.Context()); err != nil {
		t.Fatalf("sweep: %v", err)
	}
	wantDamageCount(t, v, 0)
}

// If a document is damaged but the destination has an intact copy from an earlier backup,
// the backup keeps that copy and lists the document as damaged.
func TestBackupListsDamagedFiles(t *testing.T) {
	v, opts, _ := openWithScrub(t)
	file := vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("a.pdf", "a"))[0]
	to := t.TempDir()
	wantDamaged := func(want ...uint64) {
		t.Helper()
		created, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {})
		if err != nil {
			t.Fatalf("backup: %v", err)
		}
		if !slices.Equal(created.Damaged, want) {
			t.Errorf("damaged files of the backup = %v, want %v", created.Damaged, want)
		}
	}
	wantDamaged()
	changeBlob(t, opts.Dir, file, flipBit)
	scrubStep(t, v)
	wantDamaged(file.ID)
	_, err := v.Backups.Create(t.Context(), vaulttest.Operator, t.TempDir(), func(backup.Progress) {})
	vaulttest.WantKind(t, "first backup to a destination with a damaged document", err, errs.Conflict)
}

// The text of a damaged document is not extracted.
func TestTextOfDamagedDocument(t *testing.T) {
	v, opts, _ := openWithScrub(t)
	file := vaulttest.UploadDocs(t, v, vaulttest.NewDoc("a.txt", []byte("a deed of trust")))[0]
	changeBlob(t, opts.Dir, file, flipBit)
	if err := v.Vault.Previews.Remove(file.Digest); err != nil {
		t.Fatalf("remove previews: %v", err)
	}
	err := v.Previews.Text(t.Context(), vaulttest.Operator, file.ID, func(int, string) error { return nil })
	if !isDamaged(err) {
		t.Errorf("Text() = %v, want a DamagedError", err)
	}
}
