package blobstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What somebody owns stays, and so do folders; the rest goes.
func TestClearTmp(t *testing.T) {
	s, _ := newStore(t)
	staged := stageAll(t, s, sample(10, 70))
	mine, release := s.ReserveTmp("copy.db")
	left := filepath.Join(s.tmp, "left")
	if err := errors.Join(os.WriteFile(mine, nil, 0o600), os.WriteFile(left, []byte("x"), 0o400), os.Mkdir(filepath.Join(s.tmp, "folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if n, _, err := s.StaleTmp(); n != 1 || err != nil {
		t.Errorf("%d leftovers, %v", n, err)
	}
	if n, err := s.ClearTmp(t.Context()); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it stays: %v", err)
	}
	releaseBlobs, err := s.Commit(t.Context(), staged...)
	if err != nil {
		t.Fatal(err)
	}
	releaseBlobs()
	release()
	if n, err := s.ClearTmp(t.Context()); n != 1 || err != nil {
		t.Errorf("after it was released: removed %d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(s.tmp, "folder")); err != nil {
		t.Error(err)
	}
}
