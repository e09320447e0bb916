package search_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"deedkeep/app/search"
)

// If the current file does not name the live index, Check reports and corrects it, both with and
// without a running server. Searches still work.
func TestCheckReportsDamagedCurrentFile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, content string // "": the file is deleted, which is not an error
	}{
		{"another number", "3\n"},
		{"not a number", "q\n"},
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
			damage := func() {
				t.Helper()
				err := os.Remove(s.search("current"))
				if row.content != "" {
					err = errors.Join(err, os.WriteFile(s.search("current"), []byte(row.content), 0o600))
				}
				if err != nil {
					t.Fatalf("damage current file: %v", err)
				}
			}
			check := func(name string, damaged bool) {
				t.Helper()
				if _, err := h.Check(t.Context()); errors.Is(err, search.ErrCurrentFile) != damaged || !damaged && err != nil {
					t.Errorf("%s: Check() = %v, want ErrCurrentFile: %v", name, err, damaged)
				}
				if st, err := h.State(t.Context()); err != nil || !st.Ready || st.Building || st.Documents != 1 {
					t.Errorf("%s: State() = %+v, %v; want a ready index of 1 document", name, st, err)
				}
			}
			damage()
			h = s.open(t)
			check("without a server", row.content != "")
			check("again", row.content != "")
			h.serve()
			h.wantHitsSoon("KX100", "order 1")
			check("after the start of a server", false)
			damage()
			check("with a server", row.content != "")
			check("again", false)
			h.closeAll()
			if raw, err := os.ReadFile(s.search("current")); err != nil || string(raw) != "1\n" {
				t.Errorf("current file = %q, %v; want 1", raw, err)
			}
			if _, err := os.Stat(s.search("2")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("stat second index: %v, want that it doesn't exist", err)
			}
		})
	}
}
