package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// A session counts as cleanly ended only when all it wrote was synced, and a mark means
// nothing beside another state of the file.
func TestCleanEnd(t *testing.T) {
	marked := func(path string) bool {
		_, err := os.Stat(path + cleanMarkSuffix)
		return !errors.Is(err, fs.ErrNotExist)
	}
	write := func(s *Store) error { return s.Update(context.Background(), nil, putAbstract) }
	for _, row := range []struct {
		name    string
		session func(t *testing.T, s *Store, path string)
		clean   bool
	}{
		{"it was only read", func(t *testing.T, s *Store, _ string) { view(t, s, func(*Tx) error { return nil }) }, true},
		{"it was written", func(t *testing.T, s *Store, _ string) { update(t, s, putAbstract) }, true},
		{"it was rebuilt", func(t *testing.T, s *Store, path string) {
			if err := s.Rebuild(t.Context(), func(Finding) {}); err != nil || marked(path) {
				t.Errorf("got %v, marked %v", err, marked(path))
			}
		}, true},
		{"it was killed", func(t *testing.T, s *Store, path string) {
			update(t, s, putAbstract)
			t.Cleanup(func() {
				if err := os.Remove(path + cleanMarkSuffix); err != nil {
					t.Error(err)
				}
			})
		}, false},
		{"a commit failed", func(t *testing.T, s *Store, _ string) {
			s.commitTx = func(*bolt.Tx) error { return syscall.EIO }
			if err := write(s); err == nil {
				t.Error("got no error")
			}
		}, false},
		{"a document's sync failed", func(t *testing.T, s *Store, _ string) {
			update(t, s, putAbstract)
			s.Fail(syscall.EIO)
		}, false},
		{"a document's sync failed, and nothing was written", func(_ *testing.T, s *Store, _ string) { s.Fail(syscall.EIO) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vault.db")
			end := func(s *Store) {
				t.Helper()
				if err := errors.Join(s.Close(), s.Close()); err != nil {
					t.Error(err)
				}
			}
			session := func() *Store {
				t.Helper()
				s, err := Open(t.Context(), path, testOptions())
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := session()
			if !s.CacheCheck().Clean || s.CacheCheck().Elapsed != 0 {
				t.Errorf("a new file: got %+v", s.CacheCheck())
			}
			end(s)
			s = session()
			if !s.CacheCheck().Clean || !marked(path) {
				t.Errorf("after a clean end: got %+v, marked %v", s.CacheCheck(), marked(path))
			}
			commit := s.commitTx
			s.commitTx = func(tx *bolt.Tx) error {
				if marked(path) {
					t.Error("the mark is still there at the first commit")
				}
				return commit(tx)
			}
			t.Run("session", func(t *testing.T) { row.session(t, s, path); s.commitTx = commit; end(s) })
			s = session()
			if got := s.CacheCheck(); got.Clean != row.clean || got.LostWrites != nil || got.WriteError != nil {
				t.Errorf("the next start: got %+v, want clean %v", got, row.clean)
			}
			if err := write(s); err != nil {
				t.Errorf("a write at the next start: %v", err)
			}
			end(s)
			if s = session(); !s.CacheCheck().Clean {
				t.Errorf("the start after it: got %+v", s.CacheCheck())
			}
			end(s)
		})
	}
}

// A mark of another vault.db, or one that was cut, is none.
func TestForeignCleanMark(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one", "vault.db"), filepath.Join(dir, "two", "vault.db")
	for i, path := range []string{one, two} {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		for range i + 1 {
			update(t, s, putAbstract)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mark, err := os.ReadFile(two + cleanMarkSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, text string
		clean      bool
	}{
		{"its own", string(mark), true}, {"cut", string(mark[:20]), false}, {"empty", "", false}, {"of a state before", "0000000000000002 0000000000000000\n", false},
	} {
		if err := os.WriteFile(two+cleanMarkSuffix, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(two)
		if err != nil {
			t.Fatal(err)
		}
		if got := endedCleanly(file); got != row.clean {
			t.Errorf("%s: got clean %v, want %v", row.name, got, row.clean)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Rename(one, two); err != nil { // an older one that was put back
		t.Fatal(err)
	}
	if err := os.WriteFile(two+cleanMarkSuffix, mark, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, two)
	if s.CacheCheck().Clean {
		t.Error("the mark of another file counts")
	}
}

// A database that another process has is left alone: nothing of it is read or written.
func TestRereadTakesTheLock(t *testing.T) {
	s := openNew(t)
	update(t, s, putAbstract)
	if other, err := Open(t.Context(), s.file.Name(), testOptions()); err == nil {
		t.Errorf("two have it, the second with %+v", other.CacheCheck())
	}
	if _, err := os.Stat(s.file.Name() + cleanMarkSuffix); err == nil {
		t.Error("there is a mark while it is in use")
	}
}
