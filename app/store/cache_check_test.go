package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv/pagecache"
)

// A session ended cleanly only if everything that it wrote was synced.
func TestCleanMarkAfterSession(t *testing.T) {
	marked := func(path string) bool {
		_, err := os.Stat(path + pagecache.CleanMarkSuffix)
		return !errors.Is(err, fs.ErrNotExist)
	}
	write := func(s *Store) error { return s.Update(context.Background(), nil, putAbstract) }
	for _, row := range []struct {
		name    string
		session func(t *testing.T, s *Store, path string)
		clean   bool
	}{
		{"read only", func(t *testing.T, s *Store, _ string) { view(t, s, func(*Tx) error { return nil }) }, true},
		{"written", func(t *testing.T, s *Store, _ string) { update(t, s, putAbstract) }, true},
		{"rebuilt", func(t *testing.T, s *Store, path string) {
			if err := s.Rebuild(t.Context(), func(Finding) {}); err != nil || marked(path) {
				t.Errorf("Rebuild = %v, marked %v, want no clean mark", err, marked(path))
			}
		}, true},
		{"killed", func(t *testing.T, s *Store, path string) {
			update(t, s, putAbstract)
			t.Cleanup(func() {
				if err := os.Remove(path + pagecache.CleanMarkSuffix); err != nil {
					t.Errorf("remove file: %v", err)
				}
			})
		}, false},
		{"failed commit", func(t *testing.T, s *Store, _ string) {
			s.commitTx = func(kv.Tx) error { return syscall.EIO }
			if err := write(s); err == nil {
				t.Error("Update succeeded, want an error")
			}
		}, false},
		{"failed sync of a document", func(t *testing.T, s *Store, _ string) {
			update(t, s, putAbstract)
			s.Fail(syscall.EIO)
		}, false},
		{"failed sync of a document, nothing written", func(_ *testing.T, s *Store, _ string) { s.Fail(syscall.EIO) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.db")
			end := func(s *Store) {
				t.Helper()
				if err := errors.Join(s.Close(), s.Close()); err != nil {
					t.Errorf("close store: %v", err)
				}
			}
			session := func() *Store {
				t.Helper()
				s, err := Open(t.Context(), path, testOptions())
				if err != nil {
					t.Fatalf("open store: %v", err)
				}
				return s
			}
			s := session()
			if !s.AtOpen().Clean || s.AtOpen().Elapsed != 0 {
				t.Errorf("new file: got %+v, want clean", s.AtOpen())
			}
			end(s)
			s = session()
			if !s.AtOpen().Clean || !marked(path) {
				t.Errorf("after a clean session: got %+v, marked %v; want clean and marked", s.AtOpen(), marked(path))
			}
			commit := s.commitTx
			s.commitTx = func(tx kv.Tx) error {
				err := commit(tx)
				if marked(path) {
					t.Error("the clean mark exists after the first commit, want it removed")
				}
				return err
			}
			t.Run("session", func(t *testing.T) { row.session(t, s, path); s.commitTx = commit; end(s) })
			s = session()
			if got := s.AtOpen(); got.Clean != row.clean || got.LostWrites != nil || got.WriteError != nil {
				t.Errorf("next start: got %+v, want clean %v", got, row.clean)
			}
			if err := write(s); err != nil {
				t.Errorf("update after the next start: %v", err)
			}
			end(s)
			if s = session(); !s.AtOpen().Clean {
				t.Errorf("start after that: got %+v, want clean", s.AtOpen())
			}
			end(s)
		})
	}
}

// A clean mark is invalid if it is truncated or belongs to a different vault.db.
func TestCleanMarkOfOtherState(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one", "vault.db"), filepath.Join(dir, "two", "vault.db")
	for i, path := range []string{one, two} {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		s, err := Open(t.Context(), path, testOptions())
		if err != nil {
			t.Fatalf("open store: %v", err)
		}
		for range i + 1 {
			update(t, s, putAbstract)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("close store: %v", err)
		}
	}
	mark, err := os.ReadFile(two + pagecache.CleanMarkSuffix)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	for _, row := range []struct {
		name, text string
		clean      bool
	}{
		{"its own", string(mark), true}, {"cut", string(mark[:20]), false}, {"empty", "", false}, {"of a state before",
			"0000000000000002 0000000000000000\n", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := os.WriteFile(two+pagecache.CleanMarkSuffix, []byte(row.text), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			file, err := os.Open(two)
			if err != nil {
				t.Fatalf("open file: %v", err)
			}
			if got := pagecache.EndedCleanly(file); got != row.clean {
				t.Errorf("got clean %v, want %v", got, row.clean)
			}
			if err := file.Close(); err != nil {
				t.Errorf("close file: %v", err)
			}
		})
	}
	if err := os.Rename(one, two); err != nil { // an older database was restored
		t.Fatalf("rename file: %v", err)
	}
	if err := os.WriteFile(two+pagecache.CleanMarkSuffix, mark, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	s := open(t, two)
	if s.AtOpen().Clean {
		t.Error("the mark of another file is valid, want not clean")
	}
}

// If another process has the database open, it is neither read nor written.
func TestCacheCheckRequiresTheLock(t *testing.T) {
	s := openNew(t)
	update(t, s, putAbstract)
	if other, err := Open(t.Context(), s.db.Path(), testOptions()); err == nil {
		t.Errorf("second Open succeeded with %+v, want an error", other.AtOpen())
	}
	if _, err := os.Stat(s.db.Path() + pagecache.CleanMarkSuffix); err == nil {
		t.Error("the clean mark exists while the database is in use, want it removed")
	}
}

// A vault that another version or another secret.key belongs to is as clean afterward as before.
func TestRejectedVaultKeepsItsCleanMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatalf("close store: %v", err)
	}
	other := testOptions()
	other.Fingerprint = "another"
	if s, err := Open(t.Context(), path, other); err == nil {
		t.Fatalf("Open succeeded with another secret.key; close: %v", s.Close())
	}
	if s := open(t, path); !s.AtOpen().Clean {
		t.Errorf("AtOpen() = %+v after a rejected Open, want clean", s.AtOpen())
	}
}
