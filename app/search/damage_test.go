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

// If index files are damaged when the server starts, the index is rebuilt and returns correct results
// without manual repair.
func TestDamagedIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.addSampleRecords()
	h.closeAll()
	want := s.searchRebuilt(t)
	intact := t.TempDir()
	if err := os.CopyFS(intact, os.DirFS(s.search())); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	type damage struct {
		name string
		do   func() error
	}
	damages := []damage{
		{"no damage", func() error { return nil }},
		{"folder deleted", func() error { return os.RemoveAll(s.search()) }},
		{"current file deleted", func() error { return os.Remove(s.search("current")) }},
		{"current file empty", func() error { return os.WriteFile(s.search("current"), nil, 0o600) }},
		{"current file with an unknown number", func() error { return os.WriteFile(s.search("current"), []byte("99\n"), 0o600) }},
		{"index folder empty", func() error {
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
		t.Run(row.name, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(s.search()), os.CopyFS(s.search(), os.DirFS(intact))); err != nil {
				t.Fatalf("restore intact index: %v", err)
			}
			if err := row.do(); err != nil {
				t.Fatalf("damage index: %v", err)
			}
			h := s.open(t)
			h.catchUp()
			for _, q := range sampleQueries { // any of these queries may detect the damage
				if _, err := h.query(query.Query{Text: q}); errs.KindOf(err) == errs.Unavailable {
					h.catchUp()
				} else if err != nil {
					t.Errorf("search for %q: %v", q, err)
				}
			}
			if got := h.searchAll(); !maps.Equal(got, want) {
				t.Errorf("hits = %v, want %v", got, want)
			}
			h.closeAll()
		})
	}
}

// If the index folder is deleted, the index is rebuilt even if no records change.
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
		t.Errorf("RunPass() after the deletion = %v, %v; want true", more, err)
	}
	if s, err := h.State(t.Context()); err != nil || s.Ready {
		t.Errorf("State() after the deletion = %+v, %v; want not ready", s, err)
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
		t.Errorf("current file of the new folder: %v", err)
	}
	h.closeAll()
}

// A malformed or unreadable current file is treated as missing and does not cause a rebuild.
func TestMalformedCurrentFile(t *testing.T) {
	t.Parallel()
	replaceByFolder := func(path string) error {
		return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700))
	}
	for _, row := range []struct {
		name, file string
		damage     func(path string) error
		maxOpened  int64 // in the first run
	}{
		{"current file replaced by a folder", "current", replaceByFolder, 1},
		{"large current file", "current", func(path string) error { return os.Truncate(path, 1<<30) }, 1},
		{"current file replaced by a symlink", "current", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
		}, 1},
		{"current file replaced by a symlink to itself", "current", func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink(path, path))
		}, 1},
		{"current file not readable", "current", func(path string) error { return os.Chmod(path, 0) }, 1}, // no effect for root
		{"manifest replaced by a folder", "1/manifest", replaceByFolder, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			h := s.open(t)
			h.order("A-1", "", elm("", ""))
			h.catchUp()
			h.closeAll()
			if err := row.damage(s.search(filepath.FromSlash(row.file))); err != nil {
				t.Fatalf("damage %s: %v", row.file, err)
			}
			for run := range 2 { // the second run checks that the repair is permanent
				h = s.open(t)
				var opened atomic.Int64
				h.wrapIndexes(func(n int64, in search.Index) search.Index { opened.Store(n); return in })
				h.catchUp()
				h.wantHits("A-1", "order 1")
				h.closeAll()
				if got := opened.Load(); run == 0 && got > row.maxOpened || run > 0 && got != 1 {
					t.Errorf("indexes opened in run %d = %d, want at most %d in the first and 1 in the second", run, got, row.maxOpened)
				}
			}
			if raw, err := os.ReadFile(s.search("current")); err != nil || len(raw) > 8 {
				t.Errorf("current file = %d bytes, %v; want at most 8", len(raw), err)
			}
		})
	}
}

// If the current file is missing, the newest complete index serves searches, and an unfinished build
// resumes.
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
		t.Fatalf("State() = %+v, %v; want ready and building", st, err)
	}
	if got := h.searchAll(); !maps.Equal(got, want) {
		t.Errorf("hits = %v, want %v", got, want)
	}
	if raw, err := os.ReadFile(s.search("current")); err != nil || string(raw) != "1\n" {
		t.Errorf("current file = %q, %v; want 1", raw, err)
	}
	h.catchUp()
	s.wantEntries(t, 2)
}
