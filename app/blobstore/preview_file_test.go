package blobstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/blobstore"
	"deedkeep/app/vaulttest"
)

// TestOtherVersions checks that a file written by another version is not used and not
// reported as damaged.
func TestOtherVersions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1<<20, time.Now)
	for _, row := range []struct {
		label, name string
		content     []byte
	}{
		{"text 1", blobstore.TextFile, vaulttest.OldText(t, 1, "DEED")},
		{"text 2", blobstore.TextFile, vaulttest.OldText(t, 2, "DEED")},
		{"text of a later version", blobstore.TextFile, vaulttest.OldText(t, 4, "DEED")},
		{"PNG without a head", blobstore.ThumbnailFile, []byte("\x89PNG\r\n\x1a\nand so on")},
		{"JPEG without a head", blobstore.PageImageFile(3, 850), []byte("\xff\xd8\xff\xe0and so on")},
		{"a short JPEG", blobstore.PageImageFile(3, 850), []byte("\xff\xd8\xff")},
		{"sizes without a head", blobstore.PageSizesFile, []byte(`[{"Width":612,"Height":792}]`)},
		{"picture of a later version", blobstore.ThumbnailFile, []byte("deedkeep-derived-2\n\x00\x00\x00\x00\x00\x00")},
	} {
		t.Run(row.label, func(t *testing.T) {
			if err := s.Remove(digest); err != nil {
				t.Fatalf("Remove: %v", err)
			}
			put(t, s, digest, row.name, "x")
			if err := os.WriteFile(filepath.Join(dir, "previews", "ab", digest, row.name), row.content, 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			err := s.ReadText(digest, func(int, string) error { return nil })
			if row.name != blobstore.TextFile {
				_, err = s.Open(digest, row.name)
			}
			if !errors.Is(err, blobstore.ErrPreviewVersion) || !errors.Is(err, fs.ErrNotExist) || errors.Is(err, blobstore.ErrPreviewDamaged) {
				t.Errorf("Open = %v, want %v, which is also fs.ErrNotExist", err, blobstore.ErrPreviewVersion)
			}
			if row.name != blobstore.TextFile && s.Has(digest, row.name) {
				t.Error("Has = true, want false")
			}
			health, err := s.Check(digest)
			if want := (blobstore.PreviewHealth{OtherVersion: 1, TextAffected: row.name == blobstore.TextFile}); err != nil || health != want {
				t.Errorf("Check = %+v, %v, want %+v", health, err, want)
			}
		})
	}
}

// TestOpenDetectsEveryBitFlip checks that no page image with a flipped bit can be opened.
func TestOpenDetectsEveryBitFlip(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1<<20, time.Now)
	const picture = "\x89PNG\r\n\x1a\nthe picture of a page"
	for _, name := range []string{blobstore.ThumbnailFile, blobstore.PageSizesFile, blobstore.PageImageFile(1, 850)} {
		put(t, s, digest, name, picture)
		if got := get(t, s, digest, name); got != picture {
			t.Errorf("%s: got %q, want %q", name, got, picture)
		}
	}
	if health, err := s.Check(digest); err != nil || health != (blobstore.PreviewHealth{}) {
		t.Errorf("Check of intact files = %+v, %v, want no damage", health, err)
	}
	path := filepath.Join(dir, "previews", "ab", digest, blobstore.ThumbnailFile)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	damaged := map[string][]byte{"truncated": intact[:len(intact)-1], "longer": append(bytes.Clone(intact), 0),
		"zeros": make([]byte, len(intact)), "two bytes": intact[:2]}
	for bit := range 8 * len(intact) {
		flipped := bytes.Clone(intact)
		flipped[bit/8] ^= 1 << (bit % 8)
		damaged[fmt.Sprint("bit ", bit)] = flipped
	}
	for label, content := range damaged {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		if _, err := s.Open(digest, blobstore.ThumbnailFile); !errors.Is(err, fs.ErrNotExist) || s.Has(digest, blobstore.ThumbnailFile) {
			t.Errorf("%s: Open = %v, want fs.ErrNotExist", label, err)
		}
		// If the flipped bit is in the version number, the file counts as written by another
		// version.
		if health, err := s.Check(digest); err != nil || health.Damaged+health.OtherVersion != 1 || health.TextAffected {
			t.Errorf("%s: Check = %+v, %v, want one file to rebuild", label, health, err)
		}
	}
}
