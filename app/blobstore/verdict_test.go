package blobstore

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// verifying is a store with a clock that the test moves, and little that is verified
// first.
func verifying(t *testing.T, first int64) (s *Store, clock *time.Time) {
	t.Helper()
	now := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	base := t.TempDir()
	s, err := Open(filepath.Join(base, "blobs"), filepath.Join(base, "tmp"), Options{Files: hastyFiles{OSFiles()}, Now: func() time.Time { return now }, VerifyOnOpenMax: first})
	if err != nil {
		t.Fatal(err)
	}
	return s, &now
}

// hastyFiles sync no directory: these tests cut no power.
type hastyFiles struct{ Files }

func (hastyFiles) SyncDir(string) error { return nil }

// rotten writes other bytes into a blob, as it lies there: same inode, its modification
// time one step off, so that no clock tick hides the change.
func rotten(t *testing.T, s *Store, d Digest, content []byte) {
	t.Helper()
	path := s.path(d)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func flipped(content []byte, bit int) []byte {
	content = bytes.Clone(content)
	content[bit/8%len(content)] ^= 1 << (bit % 8)
	return content
}

// sent reads a blob as a download does; whole is false where it broke off.
func sent(t *testing.T, s *Store, d Digest, size int64) (got []byte, err error) {
	t.Helper()
	f, u, err := s.OpenVerified(t.Context(), d, size)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if u == nil {
		return io.ReadAll(f)
	}
	return io.ReadAll(u)
}

// TestDamagedIsNeverSentComplete damages blobs in every way, small and large ones.
func TestDamagedIsNeverSentComplete(t *testing.T) {
	s, _ := verifying(t, 1<<10)
	for _, size := range []int{1, 1000, holdBack - 1, holdBack, holdBack + 1, 3*holdBack + 5} {
		content := sample(size, uint64(size))
		d := keepAll(t, s, content)[0]
		rows := map[string][]byte{
			"cut": content[:size-1], "emptied": nil, "lengthened": append(bytes.Clone(content), 0), "zeros": make([]byte, size),
		}
		for i := range 13 {
			rows["flip "+string(rune('a'+i))] = flipped(content, i*size*8/13+i%8)
		}
		for name, bad := range rows {
			if bytes.Equal(bad, content) {
				continue
			}
			rotten(t, s, d, bad)
			got, err := sent(t, s, d, int64(size))
			if !errors.Is(err, ErrDamaged) || len(got) > max(0, size-holdBack) {
				t.Errorf("%d bytes, %s: got %d bytes and %v, want at most %d and %v", size, name, len(got), err, max(0, size-holdBack), ErrDamaged)
			}
			if _, err := sent(t, s, d, int64(size)); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d bytes, %s, once more: got %v, want %v", size, name, err, ErrDamaged)
			}
		}
		if healed := keepAll(t, s, content)[0]; healed != d {
			t.Fatal("another digest")
		}
		if got, err := sent(t, s, d, int64(size)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, stored again: got %d bytes, %v", size, len(got), err)
		}
	}
}

// TestVerifiedWhileUnchanged: a verdict counts for its time and for the very file it
// was about.
func TestVerifiedWhileUnchanged(t *testing.T) {
	content := sample(3*holdBack, 5)
	size := int64(len(content))
	rows := []struct {
		name   string
		change func(t *testing.T, s *Store, d Digest, now *time.Time)
		want   bool // it is verified
	}{
		{"just stored", func(*testing.T, *Store, Digest, *time.Time) {}, true},
		{"a day later", func(_ *testing.T, _ *Store, _ Digest, now *time.Time) { *now = now.Add(24 * time.Hour) }, false},
		{"shortly before", func(_ *testing.T, _ *Store, _ Digest, now *time.Time) { *now = now.Add(24*time.Hour - 1) }, true},
		{"clock set back", func(_ *testing.T, _ *Store, _ Digest, now *time.Time) { *now = now.Add(-time.Second) }, false},
		{"forgotten, then checked", func(t *testing.T, s *Store, d Digest, _ *time.Time) {
			s.verdicts.forget(d)
			if err := s.Check(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"sent as a whole", func(t *testing.T, s *Store, d Digest, _ *time.Time) {
			s.verdicts.forget(d)
			if _, err := sent(t, s, d, size); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"touched", func(t *testing.T, s *Store, d Digest, _ *time.Time) { rotten(t, s, d, content) }, false},
		{"another file, with its size and time", func(t *testing.T, s *Store, d Digest, _ *time.Time) {
			info, err := os.Stat(s.path(d))
			if err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(s.tmp, "other")
			if err := os.WriteFile(other, content, 0o400); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(other, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			if err := OSFiles().Rename(other, s.path(d)); err != nil {
				t.Fatal(err)
			}
		}, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s, now := verifying(t, 1<<10)
			d := keepAll(t, s, content)[0]
			row.change(t, s, d, now)
			f, u, err := s.OpenVerified(t.Context(), d, size)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got := u == nil; got != row.want {
				t.Errorf("verified: got %t, want %t", got, row.want)
			}
		})
	}
}

// TestChangeTimeTells: bytes that were written over in place, with the size and the
// modification time set back, have another change time.
func TestChangeTimeTells(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has none: the verdict expires instead
	}
	s, _ := verifying(t, 1<<10)
	content := sample(100, 6)
	d := keepAll(t, s, content)[0]
	at, _ := s.verdicts.of(d)
	rotten(t, s, d, flipped(content, 9))
	when := time.Unix(0, at.stamp.modified)
	if err := os.Chtimes(s.path(d), when, when); err != nil {
		t.Fatal(err)
	}
	// As if the clock had moved on between the two, whatever its resolution.
	at.stamp.changed--
	s.verdicts.note(d, at)
	if _, err := sent(t, s, d, 100); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want %v", err, ErrDamaged)
	}
}

// TestUnverifiedInParts: parts come as they lie there, and only all of it is a verdict.
func TestUnverifiedInParts(t *testing.T) {
	s, _ := verifying(t, 1<<10)
	content := sample(4*holdBack, 7)
	size := int64(len(content))
	d := keepAll(t, s, content)[0]
	s.verdicts.forget(d)
	f, u, err := s.OpenVerified(t.Context(), d, size)
	if err != nil || u == nil {
		t.Fatal(u, err)
	}
	defer f.Close()
	read := func(from, n int64) {
		t.Helper()
		if _, err := u.Seek(from, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, n)
		if _, err := io.ReadFull(u, got); err != nil || !bytes.Equal(got, content[from:from+n]) {
			t.Errorf("%d from %d: %v", n, from, err)
		}
	}
	read(size-10, 10)
	read(1000, 5000)
	read(0, 100)
	if u.Verified() {
		t.Error("parts were taken for all of it")
	}
	read(100, size-100) // from where the first part ended: all of it was read
	if !u.Verified() || u.Err() != nil {
		t.Errorf("all of it: sound %t, %v", u.Verified(), u.Err())
	}
	read(size-holdBack-3, 10)
	if _, err := u.Seek(-1, io.SeekStart); err == nil {
		t.Error("sought before the beginning")
	}
}

// TestVerdictsAreBounded keeps no more than its share of memory.
func TestVerdictsAreBounded(t *testing.T) {
	var v verdicts
	at := time.Now()
	for i := range mostVerdicts + 100 {
		v.note(Digest(sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)})), verdict{at: at})
	}
	if len(v.seen) != mostVerdicts {
		t.Errorf("got %d, want %d", len(v.seen), mostVerdicts)
	}
}
