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

// unrelatedDir creates a directory that does not belong to deedkeep but has a subdirectory with the
// name of an index.
func unrelatedDir(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "1"), 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1", "other"), []byte("deeds"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	return dir
}

// checkUnchanged checks that the content of an unrelatedDir is unchanged.
func checkUnchanged(t *testing.T, dir string) {
	t.Helper()
	if raw, err := os.ReadFile(filepath.Join(dir, "1", "other")); err != nil || string(raw) != "deeds" {
		t.Errorf("other file = %q, %v; want it unchanged", raw, err)
	}
	for _, below := range []string{".", "1"} {
		if entries, err := os.ReadDir(filepath.Join(dir, below)); err != nil || len(entries) != 1 {
			t.Errorf("entries of %s = %v, %v; want 1", below, entries, err)
		}
	}
}

// blockers create various files and links at the path of the search folder.
var blockers = []struct {
	name   string
	create func(path, other string) error
}{
	{"file", func(path, _ string) error { return os.WriteFile(path, []byte("x"), 0o600) }},
	{"symlink", func(path, other string) error { return os.Symlink(other, path) }},
	{"dangling symlink", func(path, other string) error { return os.Symlink(filepath.Join(other, "none"), path) }},
}

// waitFailure waits until State reports a failure. If want is false, it waits until State reports none.
func (h *harness) waitFailure(want bool) search.State {
	h.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s, err := h.State(h.t.Context())
		if err != nil || time.Now().After(end) {
			h.t.Fatalf("State() = %+v, %v; want a failure: %v", s, err, want)
		}
		if want == (s.Failure != "") {
			return s
		}
	}
}

// A file or link at the path of the search folder is not deleted and is reported, both at startup and
// later. Indexing resumes once it is removed.
func TestFileInPlaceOfFolderIsKept(t *testing.T) {
	t.Parallel()
	for _, row := range blockers {
		for _, running := range []bool{false, true} {
			name := row.name + " at startup"
			if running {
				name = row.name + " with a running server"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				other := unrelatedDir(t)
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
					if err = errors.Join(os.RemoveAll(s.search()), row.create(s.search(), other)); err == nil {
						break
					}
				}
				if err != nil {
					t.Fatalf("replace search folder: %v", err)
				}
				if !running {
					if s, err := h.State(t.Context()); err != nil || s.Ready || !strings.Contains(s.Failure, "must be a folder") {
						t.Errorf("without a server: State() = %+v, %v; want the failure \"must be a folder\"", s, err)
					}
					if _, err := h.Check(t.Context()); err != nil {
						t.Errorf("Check: %v", err)
					}
					h.serve()
				}
				h.Wake()
				if s := h.waitFailure(true); !strings.Contains(s.Failure, "must be a folder") {
					t.Errorf("State() = %+v, want the failure \"must be a folder\"", s)
				}
				if _, err := h.await(); !running && errs.KindOf(err) != errs.Unavailable {
					t.Errorf("Await: got %v, want Unavailable", err)
				}
				checkUnchanged(t, other)
				if err := os.Remove(s.search()); err != nil {
					t.Fatalf("remove file: %v", err)
				}
				h.order("KX200", "", elm("", ""))
				h.Wake()
				h.wantHitsSoon("KX200", "order 2")
				h.wantHitsSoon("KX100", "order 1")
				h.waitFailure(false)
				checkUnchanged(t, other)
			})
		}
	}
}
