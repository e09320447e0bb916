package search_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// Whatever damage its files have at startup, the index gives correct results without manual repair.
func TestDamagedIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.addSampleRecords()
	h.closeAll()
	want := s.searchRebuilt(t)
	whole := t.TempDir()
	if err := os.CopyFS(whole, os.DirFS(s.search())); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	type damage struct {
		name string
		do   func() error
	}
	damages := []damage{
		{"nothing", func() error { return nil }},
		{"no folder", func() error { return os.RemoveAll(s.search()) }},
		{"no note", func() error { return os.Remove(s.search("current")) }},
		{"a torn note", func() error { return os.WriteFile(s.search("current"), nil, 0o600) }},
		{"a note of another", func() error { return os.WriteFile(s.search("current"), []byte("99\n"), 0o600) }},
		{"an empty one", func() error {
			for _, path := range s.files(t) {
				if err := os.Remove(path); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	for _, path := range s.files(t) {
		damages = append(damages, damage{"without " + filepath.Base(path), func() error { return os.Remove(path) }})
		for _, at := range []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1} {
			damages = append(damages, damage{fmt.Sprint("a byte at ", at, " of ", filepath.Base(path)), func() error { return flipByte(at)(path) }})
		}
	}
	for _, row := range damages {
		if err := errors.Join(os.RemoveAll(s.search()), os.CopyFS(s.search(), os.DirFS(whole))); err != nil {
			t.Fatalf("remove directory: %v", err)
		}
		if err := row.do(); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		h := s.open(t)
		h.catchUp()
		for _, q := range sampleQueries { // any of them may hit the damage
			if _, err := h.query(query.Query{Text: q}); errs.KindOf(err) == errs.Unavailable {
				h.catchUp()
			} else if err != nil {
				t.Errorf("%s: %q: %v", row.name, q, err)
			}
		}
		if got := h.searchAll(); !maps.Equal(got, want) {
			t.Errorf("%s: it answers %v, want %v", row.name, got, want)
		}
		h.closeAll()
	}
}

// A deleted folder is noticed although no records change.
func TestFolderDeletedWhileIdle(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.addSampleRecords()
	h.catchUp()
	folder := s.search()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if more, err := h.RunPass(t.Context()); err != nil || !more {
		t.Errorf("the turn that meets it: more %v, %v", more, err)
	}
	if s, err := h.State(t.Context()); err != nil || s.Ready {
		t.Errorf("it says %+v, %v", s, err)
	}
	for range 10 {
		if more, err := h.RunPass(t.Context()); err != nil {
			t.Fatalf("RunPass: %v", err)
		} else if !more {
			break
		}
	}
	h.wantHits("26-0003", "order 4")
	if _, err := os.Stat(filepath.Join(folder, "current")); errors.Is(err, os.ErrNotExist) {
		t.Error("no folder was made")
	}
	h.closeAll()
}

// A malformed or unreadable current file counts as missing and does not cause a rebuild.
func TestMalformedCurrentFile(t *testing.T) {
	t.Parallel()
	folder := func(path string) error {
		return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700))
	}
	for _, row := range []struct {
		name, file string
		spoil      func(path string) error
		made       int64 // how many indexes are opened in total
	}{
		{"a folder for the note", "current", folder, 1},
		{"a long note", "current", func(path string) error { return os.Truncate(path, 1<<30) }, 1},
		{"a link for the note", "current", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
		}, 1},
		{"a link to itself for the note", "current", func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink(path, path))
		}, 1},
		{"a note that cannot be read", "current", func(path string) error { return os.Chmod(path, 0) }, 1}, // no effect for root
		{"a folder for the manifest", "1/manifest", folder, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			h := s.open(t)
			h.order("A-1", "", elm("", ""))
			h.catchUp()
			h.closeAll()
			if err := row.spoil(s.search(filepath.FromSlash(row.file))); err != nil {
				t.Fatalf("spoil: %v", err)
			}
			for life := range 2 { // the repair is permanent
				h = s.open(t)
				var made atomic.Int64
				h.wrapIndexes(func(n int64, in search.Index) search.Index { made.Store(n); return in })
				h.catchUp()
				h.wantHits("A-1", "order 1")
				h.closeAll()
				if got := made.Load(); life == 0 && got > row.made || life > 0 && got != 1 {
					t.Errorf("%d were opened in life %d", got, life)
				}
			}
			if raw, err := os.ReadFile(s.search("current")); err != nil || len(raw) > 8 {
				t.Errorf("the note is %d bytes, %v", len(raw), err)
			}
		})
	}
}

// Without the current file the newest complete index serves searches, and an unfinished build resumes.
func TestCompleteIndexServesWithoutCurrentFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, smallBatches)
	h := s.open(t)
	h.addSampleRecords()
	h.catchUp()
	want := h.searchAll()
	h.Rebuild()
	for range 3 {
		if _, err := h.RunPass(t.Context()); err != nil {
			t.Fatalf("RunPass: %v", err)
		}
	}
	h.closeAll()
	s.wantEntries(t, 3)
	if err := os.Remove(s.search("current")); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	h = s.open(t)
	defer h.closeAll()
	if _, err := h.RunPass(t.Context()); err != nil {
		t.Fatalf("RunPass: %v", err)
	}
	if st, err := h.State(t.Context()); err != nil || !st.Ready || !st.Building {
		t.Fatalf("%+v, %v", st, err)
	}
	if got := h.searchAll(); !maps.Equal(got, want) {
		t.Errorf("it answers %v, want %v", got, want)
	}
	if raw, err := os.ReadFile(s.search("current")); err != nil || string(raw) != "1\n" {
		t.Errorf("the note is %q, %v", raw, err)
	}
	h.catchUp()
	s.wantEntries(t, 2)
}
