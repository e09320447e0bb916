package search_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"deedkeep/app/search"
)

// Check reports and corrects a current file that does not name the live index, with and without a
// server. Searches still work.
func TestCheckReportsDamagedCurrentFile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, content string // "": the file is deleted, which is allowed
	}{
		{"a bit of the number", "3\n"},
		{"a bit that makes it no number", "q\n"},
		{"zeros", "\x00\x00"},
		{"deleted", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			h := s.open(t)
			h.order("KX100", "", elm("", ""))
			h.catchUp()
			h.closeAll()
			spoil := func() {
				t.Helper()
				err := os.Remove(s.search("current"))
				if row.content != "" {
					err = errors.Join(err, os.WriteFile(s.search("current"), []byte(row.content), 0o600))
				}
				if err != nil {
					t.Fatalf("write file: %v", err)
				}
			}
			check := func(what string, damaged bool) {
				t.Helper()
				if _, err := h.Check(t.Context()); errors.Is(err, search.ErrCurrentFile) != damaged || !damaged && err != nil {
					t.Errorf("%s: %v, want damage: %v", what, err, damaged)
				}
				if st, err := h.State(t.Context()); err != nil || !st.Ready || st.Building || st.Documents != 1 {
					t.Errorf("%s: %+v, %v, want an index of 1 document", what, st, err)
				}
			}
			spoil()
			h = s.open(t)
			check("without a server", row.content != "")
			check("again", row.content != "")
			h.serve()
			h.wantHitsSoon("KX100", "order 1")
			check("a server that started", false)
			spoil()
			check("under a server", row.content != "")
			check("again", false)
			h.closeAll()
			if raw, err := os.ReadFile(s.search("current")); err != nil || string(raw) != "1\n" {
				t.Errorf("it names %q, %v, want 1", raw, err)
			}
			if _, err := os.Stat(s.search("2")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("another index was built: %v", err)
			}
		})
	}
}
