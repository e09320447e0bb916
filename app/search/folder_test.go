package search_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search"
)

// others creates an unrelated folder with a name like that of an index.
func others(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "1"), 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1", "theirs"), []byte("deeds"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	return dir
}

func untouched(t *testing.T, dir string) {
	t.Helper()
	if raw, err := os.ReadFile(filepath.Join(dir, "1", "theirs")); err != nil || string(raw) != "deeds" {
		t.Errorf("theirs is %q, %v", raw, err)
	}
	for _, below := range []string{".", "1"} {
		if entries, err := os.ReadDir(filepath.Join(dir, below)); err != nil || len(entries) != 1 {
			t.Errorf("%s holds %v, %v", below, entries, err)
		}
	}
}

// foreign lists what may exist at the path of the folder.
var foreign = []struct {
	name string
	put  func(path, theirs string) error
}{
	{"a file", func(path, _ string) error { return os.WriteFile(path, []byte("x"), 0o600) }},
	{"a link", func(path, theirs string) error { return os.Symlink(theirs, path) }},
	{"a link to nothing", func(path, theirs string) error { return os.Symlink(filepath.Join(theirs, "none"), path) }},
}

// failed waits until State reports a failure, or none.
func (h *harness) failed(is bool) search.State {
	h.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s, err := h.State(h.t.Context())
		if err != nil || time.Now().After(end) {
			h.t.Fatalf("%+v, %v", s, err)
		}
		if is == (s.Failure != "") {
			return s
		}
	}
}

// A file or link at the path of the search folder is kept and reported, whether it was there at
// startup or appears later. Indexing resumes once it is removed.
func TestFileInPlaceOfFolderIsKept(t *testing.T) {
	t.Parallel()
	for _, row := range foreign {
		for _, running := range []bool{false, true} {
			name := row.name + " at the start"
			if running {
				name = row.name + " under a server"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				theirs := others(t)
				s := newSite(t, nil)
				h := s.open(t)
				defer h.closeAll()
				h.order("KX100", "", elm("", ""))
				if running {
					h.serve()
					h.catchUp()
				}
				var err error
				for range 100 { // the server may recreate the folder at the same time
					if err = errors.Join(os.RemoveAll(s.search()), row.put(s.search(), theirs)); err == nil {
						break
					}
				}
				if err != nil {
					t.Fatalf("remove directory: %v", err)
				}
				if !running {
					if s, err := h.State(t.Context()); err != nil || s.Ready || !strings.Contains(s.Failure, "must be a folder") {
						t.Errorf("without a server: %+v, %v", s, err)
					}
					if _, err := h.Check(t.Context()); err != nil {
						t.Errorf("a verification: %v", err)
					}
					h.serve()
				}
				h.Wake()
				if s := h.failed(true); !strings.Contains(s.Failure, "must be a folder") {
					t.Errorf("it says %+v", s)
				}
				if _, err := h.await(); !running && errs.KindOf(err) != errs.Unavailable {
					t.Errorf("who waits is told %v", err)
				}
				untouched(t, theirs)
				if err := os.Remove(s.search()); err != nil {
					t.Fatalf("remove file: %v", err)
				}
				h.order("KX200", "", elm("", ""))
				h.Wake()
				h.wantHitsSoon("KX200", "order 2")
				h.wantHitsSoon("KX100", "order 1")
				h.failed(false)
				untouched(t, theirs)
			})
		}
	}
}
