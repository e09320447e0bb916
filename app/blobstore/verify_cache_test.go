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

	"deedkeep/app/blob/disk"
)

// newVerifyingStore opens a store with a clock that the test can set and with first as
// Options.VerifyOnOpenMax.
func newVerifyingStore(t *testing.T, first int64) (s *Store, clock *time.Time) {
	t.Helper()
	now := time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC)
	base := t.TempDir()
	s, err := Open(filepath.Join(base, "blobs"), filepath.Join(base, "tmp"),
		Options{Files: unsyncedFiles{disk.OSFiles()}, Now: func() time.Time { return now }, VerifyOnOpenMax: first})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s, &now
}

// unsyncedFiles doesn't sync directories, because these tests don't simulate power
// failures.
type unsyncedFiles struct{ disk.Files }

func (unsyncedFiles) SyncDir(string) error { return nil }

// corruptInPlace overwrites a blob without changing its inode. It changes the
// modification time, because the clock may be too coarse to show the write.
func corruptInPlace(t *testing.T, s *Store, d Digest, content []byte) {
	t.Helper()
	path := s.path(d)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatalf("chmod: %v", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	old := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatalf("set times: %v", err)
	}
}

func flipBit(content []byte, bit int) []byte {
	content = bytes.Clone(content)
	content[bit/8%len(content)] ^= 1 << (bit % 8)
	return content
}

// download reads a blob as a download does. It returns an error if the download is
// interrupted.
func download(t *testing.T, s *Store, d Digest, size int64) (got []byte, err error) {
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

// TestDamagedIsNeverSentComplete checks that a damaged blob, small or large, is never
// sent completely.
func TestDamagedIsNeverSentComplete(t *testing.T) {
	s, _ := newVerifyingStore(t, 1<<10)
	for _, size := range []int{1, 1000, tailSize - 1, tailSize, tailSize + 1, 3*tailSize + 5} {
		content := sample(size, uint64(size))
		d := commitAll(t, s, content)[0]
		rows := map[string][]byte{
			"cut": content[:size-1], "emptied": nil, "lengthened": append(bytes.Clone(content), 0), "zeros": make([]byte, size),
		}
		for i := range 13 {
			rows["flip "+string(rune('a'+i))] = flipBit(content, i*size*8/13+i%8)
		}
		for name, bad := range rows {
			if bytes.Equal(bad, content) {
				continue
			}
			corruptInPlace(t, s, d, bad)
			got, err := download(t, s, d, int64(size))
			if !errors.Is(err, ErrDamaged) || len(got) > max(0, size-tailSize) {
				t.Errorf("%d bytes, %s: got %d bytes and %v, want at most %d and %v", size, name, len(got), err, max(0, size-tailSize), ErrDamaged)
			}
			if _, err := download(t, s, d, int64(size)); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d bytes, %s, second download: got %v, want %v", size, name, err, ErrDamaged)
			}
		}
		if healed := commitAll(t, s, content)[0]; healed != d {
			t.Fatalf("second commit of the same content = %s, want %s", healed, d)
		}
		if got, err := download(t, s, d, int64(size)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("download after the second commit: got %d bytes, %v, want %d", len(got), err, size)
		}
	}
}

// TestVerifiedWhileUnchanged checks that a verification is valid for a limited time and
// only for the same file.
func TestVerifiedWhileUnchanged(t *testing.T) {
	content := sample(3*tailSize, 5)
	size := int64(len(content))
	rows := []struct {
		name   string
		change func(t *testing.T, s *Store, d Digest, now *time.Time)
		want   bool // whether the blob counts as verified
	}{
		{"just stored", func(*testing.T, *Store, Digest, *time.Time) {}, true},
		{"a day later", func(_ *testing.T, _ *Store, _ Digest, now *time.Time) { *now = now.Add(24 * time.Hour) }, false},
		{"shortly before", func(_ *testing.T, _ *Store, _ Digest, now *time.Time) { *now = now.Add(24*time.Hour - 1) }, true},
		{"clock set back", func(_ *testing.T, _ *Store, _ Digest, now *time.Time) { *now = now.Add(-time.Second) }, false},
		{"forgotten, then checked", func(t *testing.T, s *Store, d Digest, _ *time.Time) {
			s.verifications.remove(d)
			if err := s.Check(t.Context(), d); err != nil {
				t.Fatalf("Check: %v", err)
			}
		}, true},
		{"sent as a whole", func(t *testing.T, s *Store, d Digest, _ *time.Time) {
			s.verifications.remove(d)
			if _, err := download(t, s, d, size); err != nil {
				t.Fatalf("sent: %v", err)
			}
		}, true},
		{"touched", func(t *testing.T, s *Store, d Digest, _ *time.Time) { corruptInPlace(t, s, d, content) }, false},
		{"another file, with its size and time", func(t *testing.T, s *Store, d Digest, _ *time.Time) {
			info, err := os.Stat(s.path(d))
			if err != nil {
				t.Fatalf("stat: %v", err)
			}
			other := filepath.Join(s.tmp, "other")
			if err := os.WriteFile(other, content, 0o400); err != nil {
				t.Fatalf("write file: %v", err)
			}
			if err := os.Chtimes(other, info.ModTime(), info.ModTime()); err != nil {
				t.Fatalf("set times: %v", err)
			}
			if err := disk.OSFiles().Rename(other, s.path(d)); err != nil {
				t.Fatalf("Rename: %v", err)
			}
		}, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s, now := newVerifyingStore(t, 1<<10)
			d := commitAll(t, s, content)[0]
			row.change(t, s, d, now)
			f, u, err := s.OpenVerified(t.Context(), d, size)
			if err != nil {
				t.Fatalf("OpenVerified: %v", err)
			}
			defer f.Close()
			if got := u == nil; got != row.want {
				t.Errorf("verified: got %t, want %t", got, row.want)
			}
		})
	}
}

// TestChangeTimeRevealsWrite overwrites bytes in place, and restores the size and the
// modification time. The change time reveals the write.
func TestChangeTimeRevealsWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // Windows has no change time: the verification expires instead
	}
	s, _ := newVerifyingStore(t, 1<<10)
	content := sample(100, 6)
	d := commitAll(t, s, content)[0]
	at, _ := s.verifications.get(d)
	corruptInPlace(t, s, d, flipBit(content, 9))
	when := time.Unix(0, at.state.Modified)
	if err := os.Chtimes(s.path(d), when, when); err != nil {
		t.Fatalf("set times: %v", err)
	}
	// Simulate a clock tick between the two writes.
	at.state.Version[2]--
	s.verifications.put(d, at)
	if _, err := download(t, s, d, 100); !errors.Is(err, ErrDamaged) {
		t.Errorf("download = %v, want %v", err, ErrDamaged)
	}
}

// TestVerifyingReaderParts checks that parts are returned without verification, and that
// Verified returns true only after all bytes were read.
func TestVerifyingReaderParts(t *testing.T) {
	s, _ := newVerifyingStore(t, 1<<10)
	content := sample(4*tailSize, 7)
	size := int64(len(content))
	d := commitAll(t, s, content)[0]
	s.verifications.remove(d)
	f, u, err := s.OpenVerified(t.Context(), d, size)
	if err != nil || u == nil {
		t.Fatalf("OpenVerified = %v, %v, want a blob to be verified", u, err)
	}
	defer f.Close()
	read := func(from, n int64) {
		t.Helper()
		if _, err := u.Seek(from, io.SeekStart); err != nil {
			t.Fatalf("Seek: %v", err)
		}
		got := make([]byte, n)
		if _, err := io.ReadFull(u, got); err != nil || !bytes.Equal(got, content[from:from+n]) {
			t.Errorf("read %d bytes from %d: got %d, %v, want those of the content", n, from, len(got), err)
		}
	}
	read(size-10, 10)
	read(1000, 5000)
	read(0, 100)
	if u.Verified() {
		t.Error("Verified() = true after parts only, want false")
	}
	read(100, size-100) // continues where the first part ended, so all bytes are read
	if !u.Verified() || u.Err() != nil {
		t.Errorf("all bytes read: Verified() = %t, Err() = %v, want true and nil", u.Verified(), u.Err())
	}
	read(size-tailSize-3, 10)
	if _, err := u.Seek(-1, io.SeekStart); err == nil {
		t.Error("Seek to a negative offset: got no error")
	}
}

// TestVerifyCacheIsBounded checks that a full cache evicts entries.
func TestVerifyCacheIsBounded(t *testing.T) {
	var v verifyCache
	at := time.Now()
	for i := range maxVerifications + 100 {
		v.put(Digest(sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)})), verification{at: at})
	}
	if len(v.byDigest) != maxVerifications {
		t.Errorf("cache has %d entries, want %d", len(v.byDigest), maxVerifications)
	}
}
