package search_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// If no server is running, State describes the index on disk and creates no files.
func TestStateWithoutServer(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.order("A-1", "", elm("", ""))
	if s, err := h.State(t.Context()); err != nil || s.Ready || s.Building || s.Documents != 0 {
		t.Errorf("State() without an index = %+v, %v; want not ready, without documents", s, err)
	}
	if _, err := os.Stat(s.search()); !os.IsNotExist(err) {
		t.Errorf("stat search folder: %v, want that it doesn't exist", err)
	}
	h.closeAll()
	again := s.open(t)
	again.catchUp()
	again.closeAll()
	again = s.open(t)
	again.order("A-2", "", elm("", ""))
	if s, err := again.State(t.Context()); err != nil || !s.Ready || s.Documents != 1 || s.PendingChanges != 1 {
		t.Errorf("State() = %+v, %v; want ready with 1 document and 1 pending change", s, err)
	}
	again.closeAll()
}

// Reading the state of an index that is not open does not change any file.
func TestStateWritesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.closeAll()
	dir := s.search("1")
	left := filepath.Join(dir, "manifest.new")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	h = s.open(t)
	defer h.closeAll()
	if s, err := h.State(t.Context()); err != nil || !s.Ready || s.Documents != 1 || s.Segments != 1 || s.Bytes == 0 {
		t.Errorf("State() = %+v, %v; want ready with 1 document in 1 segment", s, err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("stat leftover file: %v", err)
	}
}

// An index with another format counts as missing, but this is not an error because a server will
// rebuild it.
func TestStateOfOtherFormat(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	h := s.open(t)
	h.order("KX100", "", elm("", ""))
	h.catchUp()
	h.closeAll()
	path := s.search("1", "manifest")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	raw[bytes.IndexByte(raw, '\n')+1] ^= 0x40 // the format, after the magic bytes
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	h = s.open(t)
	defer h.closeAll()
	if s, err := h.State(t.Context()); err != nil || s.Ready || s.Failure != "" {
		t.Errorf("State() = %+v, %v; want not ready, without a failure", s, err)
	}
	h.catchUp()
	h.wantHits("KX100", "order 1")
}
