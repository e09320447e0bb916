package blobstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestClearTmp checks that ClearTmp keeps directories and files that have an owner, and
// removes all other files.
func TestClearTmp(t *testing.T) {
	s, _ := newStore(t)
	staged := stageAll(t, s, sample(10, 70))
	owned, release := s.ReserveTmp("copy.db")
	stale := filepath.Join(s.tmp, "stale")
	if err := errors.Join(os.WriteFile(owned, nil, 0o600), os.WriteFile(stale, []byte("x"), 0o400),
		os.Mkdir(filepath.Join(s.tmp, "folder"), 0o700)); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if n, _, err := s.StaleTmp(); n != 1 || err != nil {
		t.Errorf("StaleTmp() = %d, %v, want 1", n, err)
	}
	if n, err := s.ClearTmp(t.Context()); n != 1 || err != nil {
		t.Errorf("ClearTmp() = %d, %v, want 1", n, err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("stat of the stale file = %v, want it removed", err)
	}
	releaseBlobs, err := s.Commit(t.Context(), staged...)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	releaseBlobs()
	release()
	if n, err := s.ClearTmp(t.Context()); n != 1 || err != nil {
		t.Errorf("ClearTmp after release = %d, %v, want 1", n, err)
	}
	if _, err := os.Stat(filepath.Join(s.tmp, "folder")); err != nil {
		t.Errorf("stat: %v", err)
	}
}
