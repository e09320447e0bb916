package indexer_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/search"
	"deedkeep/app/title"
)

// Whatever becomes of the files of an index while nobody has it open, it answers
// rightly, of itself.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.furnish()
	h.shut()
	want := s.anew(t)
	whole := t.TempDir()
	if err := os.CopyFS(whole, os.DirFS(s.search())); err != nil {
		t.Fatal(err)
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
			t.Fatal(err)
		}
		if err := row.do(); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		h := s.open(t)
		h.indexes()
		for _, q := range questions { // each may be the one that meets the damage
			if _, err := h.asked(search.Query{Text: q}); title.KindOf(err) == title.Closing {
				h.indexes()
			} else if err != nil {
				t.Errorf("%s: %q: %v", row.name, q, err)
			}
		}
		if got := h.answers(); !maps.Equal(got, want) {
			t.Errorf("%s: it answers %v, want %v", row.name, got, want)
		}
		h.shut()
	}
}

// The next look notices that the folder is gone, though nothing was written.
func TestTheFolderGoesWhileNothingChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.furnish()
	h.indexes()
	folder := s.search()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if more, err := h.Turn(t.Context()); err != nil || !more {
		t.Errorf("the turn that meets it: more %v, %v", more, err)
	}
	if s, err := h.State(t.Context()); err != nil || s.Ready {
		t.Errorf("it says %+v, %v", s, err)
	}
	for range 10 {
		if more, err := h.Turn(t.Context()); err != nil {
			t.Fatal(err)
		} else if !more {
			break
		}
	}
	h.finds("26-0003", "order 4")
	if _, err := os.Stat(filepath.Join(folder, "current")); errors.Is(err, os.ErrNotExist) {
		t.Error("no folder was made")
	}
	h.shut()
}

// What should be a small file, and is a folder, is as good as torn.
func TestAFolderInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"current", "1/manifest"} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			h := s.open(t)
			h.order("A-1", "", elm("", ""))
			h.indexes()
			h.shut()
			path := s.search(filepath.FromSlash(name))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it is mended, and stays so
				h = s.open(t)
				h.indexes()
				h.finds("A-1", "order 1")
				h.shut()
			}
			s.holds(t, 2)
		})
	}
}
