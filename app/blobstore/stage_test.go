package blobstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

// sample returns n pseudorandom bytes for a seed.
func sample(n int, seed uint64) []byte {
	b := make([]byte, n)
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	rng := rand.NewChaCha8(key)
	_, _ = rng.Read(b) // never fails
	return b
}

// checkGoroutines makes the test fail if more goroutines are running at its end than now.
func checkGoroutines(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		// A goroutine may still be exiting after it has signaled that it is done.
		for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Errorf("%d goroutines, want %d as before", runtime.NumGoroutine(), before)
				return
			}
		}
	})
}

func TestStageAndCommitBytes(t *testing.T) {
	sizes := []int{0, 1, 1000, chunkSize - 1, chunkSize, chunkSize + 1, 3 * chunkSize, 9*chunkSize + 17, 2*writeBackInterval + 5}
	readers := map[string]func(io.Reader) io.Reader{
		"whole":     func(r io.Reader) io.Reader { return r },
		"half":      iotest.HalfReader,
		"data, EOF": iotest.DataErrReader,
	}
	s, rec := newStore(t)
	for _, size := range sizes {
		for name, wrap := range readers {
			t.Run(fmt.Sprintf("%d %s", size, name), func(t *testing.T) {
				checkGoroutines(t)
				defer s.clean(t, rec)
				stageAndCommit(t, s, sample(size, 1), wrap)
			})
		}
	}
}

func stageAndCommit(t *testing.T, s *Store, want []byte, wrap func(io.Reader) io.Reader) {
	t.Helper()
	st, err := s.Stage(t.Context(), wrap(bytes.NewReader(want)), int64(len(want)))
	if err != nil {
		t.Fatalf("Stage: %v", err)
	}
	if st.Digest() != sha256.Sum256(want) || st.Size() != int64(len(want)) {
		t.Errorf("staged %s of %d bytes, want %x of %d", st.Digest(), st.Size(), sha256.Sum256(want), len(want))
	}
	got, err := io.ReadAll(io.NewSectionReader(st, 0, st.Size()))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("ReadAt: got %d bytes, %v, want %d", len(got), err, len(want))
	}
	release, err := s.Commit(t.Context(), st)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	release()
	release()
	if err := st.Discard(); err != nil {
		t.Errorf("Discard after Commit: %v", err)
	}
	if _, err := st.ReadAt(got, 0); len(want) > 0 && !errors.Is(err, os.ErrClosed) {
		t.Errorf("ReadAt after Commit = %v, want os.ErrClosed", err)
	}
	f, err := s.Open(t.Context(), st.Digest())
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer f.Close()
	if got, err = io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("blob has %d bytes, %v, want the staged %d", len(got), err, len(want))
	}
	if info, err := os.Stat(s.path(st.Digest())); err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("mode %v, %v; want read-only", info.Mode(), err)
	}
	if size, err := s.Size(t.Context(), st.Digest()); size != st.Size() || err != nil {
		t.Errorf("Size = %d, %v, want %d", size, err, len(want))
	}
	if err := s.Check(t.Context(), st.Digest()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func TestStageLimit(t *testing.T) {
	rows := []struct {
		name        string
		size, limit int
		want        error
	}{
		{"exact, small", 1000, 1000, nil},
		{"one over, small", 1001, 1000, ErrTooLarge},
		{"nothing allowed", 1, 0, ErrTooLarge},
		{"nothing sent", 0, 0, nil},
		{"exact, one chunk", chunkSize, chunkSize, nil},
		{"one over a chunk", chunkSize + 1, chunkSize, ErrTooLarge},
		{"limit inside the first of many", 5 * chunkSize, 10, ErrTooLarge},
		{"exact, many", 5*chunkSize + 3, 5*chunkSize + 3, nil},
		{"one over, many", 5*chunkSize + 4, 5*chunkSize + 3, ErrTooLarge},
		{"far over", 12 * chunkSize, 3 * chunkSize, ErrTooLarge},
		{"no limit", 2 * chunkSize, -1, nil},
	}
	s, rec := newStore(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			checkGoroutines(t)
			defer s.clean(t, rec)
			r := bytes.NewReader(sample(row.size, 2))
			st, err := s.Stage(t.Context(), r, int64(row.limit))
			if !errors.Is(err, row.want) || (row.want == nil) != (err == nil) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if r.Len() != 0 {
				t.Errorf("%d bytes are unread, want 0", r.Len())
			}
			if st != nil {
				if err := st.Discard(); err != nil {
					t.Errorf("Discard: %v", err)
				}
			}
		})
	}
}

func TestStageSourceFails(t *testing.T) {
	broken := errors.New("connection reset")
	s, rec := newStore(t)
	for _, after := range []int{0, 10, chunkSize, chunkSize + 10, 7 * chunkSize} {
		for _, limit := range []int64{-1, 5} {
			t.Run(fmt.Sprintf("after %d, limit %d", after, limit), func(t *testing.T) {
				checkGoroutines(t)
				defer s.clean(t, rec)
				r := io.MultiReader(bytes.NewReader(sample(after, 3)), iotest.ErrReader(broken))
				_, err := s.Stage(t.Context(), r, limit)
				if !errors.Is(err, broken) || !errors.Is(err, ErrSource) {
					t.Errorf("Stage = %v, want %v", err, broken)
				}
			})
		}
	}
	t.Run("no progress", func(t *testing.T) {
		if _, err := s.Stage(t.Context(), emptyReader{}, -1); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("Stage = %v, want io.ErrNoProgress", err)
		}
	})
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

// readFunc is a reader that calls a function with the number of bytes read so far.
type readFunc struct {
	at int
	f  func(at int)
}

func (r *readFunc) Read(p []byte) (int, error) {
	r.f(r.at)
	r.at += len(p)
	return len(p), nil
}

func TestStageCanceled(t *testing.T) {
	s, rec := newStore(t)
	for _, at := range []int{0, chunkSize, 6 * chunkSize} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			checkGoroutines(t)
			defer s.clean(t, rec)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Stage(ctx, &readFunc{f: func(n int) {
				if n >= at {
					cancel()
				}
			}}, -1)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Stage = %v, want context.Canceled", err)
			}
		})
	}
}

func TestStageSourcePanics(t *testing.T) {
	checkGoroutines(t)
	s, _ := newStore(t)
	defer func() {
		if recover() == nil {
			t.Error("Stage did not panic, want the panic of the reader")
		}
	}()
	_, _ = s.Stage(t.Context(), &readFunc{f: func(n int) {
		if n > 5*chunkSize {
			panic("reader")
		}
	}}, -1)
}

// TestStageBoundsMemory checks that if the disk is slow, the reader is never more than
// maxChunks chunks ahead of it.
func TestStageBoundsMemory(t *testing.T) {
	s, rec := newStore(t)
	var begun atomic.Int64 // chunks whose writing has begun
	full := make(chan struct{})
	rec.failWith(func(_ int, step string) error {
		if strings.HasPrefix(step, "write ") && begun.Add(1) == 1 {
			<-full // the disk stalls until the reader has filled all chunks
		}
		return nil
	})
	stop := errors.New("enough")
	src := &readFunc{f: func(at int) {
		if at == (maxChunks-1)*chunkSize {
			close(full)
		}
		if ahead := int64(at/chunkSize) - begun.Load(); ahead >= maxChunks {
			t.Errorf("reader is %d chunks ahead after %d bytes, want at most %d", ahead, at, maxChunks)
		}
	}}
	r := io.MultiReader(io.LimitReader(src, 50*chunkSize), iotest.ErrReader(stop))
	if _, err := s.Stage(t.Context(), r, -1); !errors.Is(err, stop) {
		t.Errorf("Stage = %v, want %v", err, stop)
	}
}

func TestDiscard(t *testing.T) {
	checkGoroutines(t)
	s, _ := newStore(t)
	st, err := s.Stage(t.Context(), bytes.NewReader(sample(3*chunkSize, 4)), -1)
	if err != nil {
		t.Fatalf("Stage: %v", err)
	}
	if n, _, err := s.StaleTmp(); n != 0 || err != nil {
		t.Errorf("StaleTmp() = %d, %v, want 0 while the file is owned", n, err)
	}
	for range 2 {
		if err := st.Discard(); err != nil {
			t.Errorf("Discard: %v", err)
		}
	}
	if _, err := s.Commit(t.Context(), st); !errors.Is(err, ErrFinished) {
		t.Errorf("Commit after Discard = %v, want %v", err, ErrFinished)
	}
	if _, err := s.Size(t.Context(), st.Digest()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Size = %v, want fs.ErrNotExist", err)
	}
}
