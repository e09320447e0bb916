package blobstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/blobstore"
)

var digest = strings.Repeat("ab", 32)

func open(t *testing.T, dir string, limit int64, now func() time.Time) *blobstore.Previews {
	t.Helper()
	s, err := blobstore.OpenPreviews(filepath.Join(dir, "previews"), limit, now)
	if err != nil {
		t.Fatalf("OpenPreviews: %v", err)
	}
	return s
}

func put(t *testing.T, s *blobstore.Previews, digest, name, content string) {
	t.Helper()
	err := s.Put(digest, name, func(w io.Writer) error { _, err := io.WriteString(w, content); return err })
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
}

func get(t *testing.T, s *blobstore.Previews, digest, name string) string {
	t.Helper()
	f, err := s.Open(digest, name)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(b)
}

func TestPutOpenRemove(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1<<20, time.Now)
	if _, err := s.Open(digest, blobstore.ThumbnailFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open before Put = %v, want fs.ErrNotExist", err)
	}
	put(t, s, digest, blobstore.ThumbnailFile, "one")
	put(t, s, digest, blobstore.ThumbnailFile, "two")
	if got := get(t, s, digest, blobstore.ThumbnailFile); got != "two" {
		t.Errorf("content = %q, want two", got)
	}
	broken := errors.New("broken")
	if err := s.Put(digest, blobstore.ThumbnailFile,
		func(w io.Writer) error { io.WriteString(w, "th"); return broken }); !errors.Is(err, broken) {
		t.Errorf("Put with a failing writer = %v, want %v", err, broken)
	}
	if got := get(t, s, digest, blobstore.ThumbnailFile); got != "two" {
		t.Errorf("content after a failed Put = %q, want two", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "previews", "tmp", "*")); len(left) > 0 {
		t.Errorf("temporary files = %v, want none", left)
	}
	if err := s.Remove(digest); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	if _, err := s.Open(digest, blobstore.ThumbnailFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open after Remove = %v, want fs.ErrNotExist", err)
	}
}

func TestPreviewsRejectInvalidDigests(t *testing.T) {
	s := open(t, t.TempDir(), 1<<20, time.Now)
	for _, bad := range []string{"", "..", strings.Repeat("../", 22)[:64], strings.Repeat("AB", 32), digest + "0"} {
		if _, err := s.Open(bad, blobstore.TextFile); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Open(%q) = %v, want fs.ErrInvalid", bad, err)
		}
		if err := s.Remove(bad); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Remove(%q) = %v, want fs.ErrInvalid", bad, err)
		}
	}
}

func TestEvictRemovesLeastRecentlyUsed(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const each = 123 // 100 bytes and a header
	s := open(t, dir, 10*each, func() time.Time { return now })
	for page := 1; page <= 12; page++ {
		put(t, s, digest, blobstore.PageImageFile(page, 100), strings.Repeat("p", 100))
		now = now.Add(time.Minute)
		get(t, s, digest, blobstore.PageImageFile(page, 100))
	}
	put(t, s, digest, blobstore.TextFile, strings.Repeat("t", 5000))
	now = now.Add(time.Minute)
	get(t, s, digest, blobstore.PageImageFile(1, 100)) // used most recently
	s = open(t, dir, 10*each, func() time.Time { return now })
	if err := s.Evict(context.Background()); err != nil {
		t.Fatalf("Evict: %v", err)
	}
	for page := 1; page <= 12; page++ {
		f, err := s.Open(digest, blobstore.PageImageFile(page, 100))
		gone := errors.Is(err, fs.ErrNotExist)
		if want := page >= 2 && page <= 4; gone != want {
			t.Errorf("page %d removed = %v, want %v", page, gone, want)
		}
		if err == nil {
			f.Close() //nolint:errcheck // only read
		}
	}
	if got := get(t, s, digest, blobstore.TextFile); len(got) != 5000 {
		t.Errorf("text has %d bytes, want it kept", len(got))
	}
}

type page struct {
	n    int
	text string
}

func TestText(t *testing.T) {
	s := open(t, t.TempDir(), 1<<20, time.Now)
	want := []page{{1, "GENERAL WARRANTY DEED"}, {3, "Ibáñez"}, {500, strings.Repeat("x", 100_000)}}
	err := s.Put(digest, blobstore.TextFile, func(w io.Writer) error {
		tw, err := blobstore.NewTextWriter(w)
		if err != nil {
			return err
		}
		for _, p := range []page{want[0], {2, ""}, want[1], want[2]} {
			if err := tw.Page(p.n, p.text); err != nil {
				return err
			}
		}
		return tw.Close()
	})
	if err != nil {
		t.Fatalf("write text: %v", err)
	}
	var got []page
	if err := s.ReadText(digest, func(n int, text string) error { got = append(got, page{n, text}); return nil }); err != nil {
		t.Fatalf("ReadText: %v", err)
	}
	if len(got) != len(want) {
		t.Fatalf("ReadText: got %d pages, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("text of page %d differs from what was written", want[i].n)
		}
	}
}

func TestDamagedText(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1<<20, time.Now)
	err := s.Put(digest, blobstore.TextFile, func(w io.Writer) error {
		tw, err := blobstore.NewTextWriter(w)
		if err != nil {
			return err
		}
		return errors.Join(tw.Page(1, strings.Repeat("deed ", 1000)), tw.Close())
	})
	if err != nil {
		t.Fatalf("write text: %v", err)
	}
	path := filepath.Join(dir, "previews", "ab", digest, blobstore.TextFile)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	flipped := bytes.Clone(intact)
	flipped[len(flipped)/2] ^= 0x10
	zeros := append(bytes.Clone(intact[:10]), make([]byte, len(intact)-10)...)
	for name, content := range map[string][]byte{"a header and zeros": zeros, "truncated": intact[:len(intact)-9], "flipped": flipped,
		"other": []byte("no gzip")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		if err := s.ReadText(digest, func(int, string) error { return nil }); !errors.Is(err, blobstore.ErrPreviewDamaged) ||
			!errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want %v, which is also fs.ErrNotExist", name, err, blobstore.ErrPreviewDamaged)
		}
	}
	// An empty file, which a power failure can leave, counts as missing.
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if err := s.ReadText(digest, func(int, string) error { return nil }); !errors.Is(err, fs.ErrNotExist) ||
		s.Has(digest, blobstore.TextFile) {
		t.Errorf("ReadText of an empty file = %v, want fs.ErrNotExist", err)
	}
}
