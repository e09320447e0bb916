package blobstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"deedkeep/app/blob"
)

// commitAll stores contents as blobs and releases their pins.
func commitAll(t *testing.T, s *Store, contents ...[]byte) []Digest {
	t.Helper()
	files := stageAll(t, s, contents...)
	release, err := s.Commit(t.Context(), files...)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	release()
	var digests []Digest
	for _, f := range files {
		digests = append(digests, f.Digest())
	}
	return digests
}

func TestSweep(t *testing.T) {
	s, _ := newStore(t)
	d := commitAll(t, s, sample(10, 40), sample(20, 41), sample(30, 42))
	release, err := s.Pin(t.Context(), d[1])
	if err != nil {
		t.Fatalf("Pin: %v", err)
	}
	referenced := func(x Digest) (bool, error) { return x == d[0], nil }
	got, err := s.Sweep(t.Context(), referenced)
	if err != nil || got.Removed != 1 || got.Bytes != 30 || got.Kept != 2 {
		t.Errorf("Sweep = %+v, %v, want 1 of 30 bytes removed and 2 kept", got, err)
	}
	release()
	got, err = s.Sweep(t.Context(), referenced)
	if err != nil || got.Removed != 1 || got.Bytes != 20 || got.Kept != 1 {
		t.Errorf("Sweep after release = %+v, %v, want 1 of 20 bytes removed and 1 kept", got, err)
	}
	if _, err := s.Size(t.Context(), d[0]); err != nil {
		t.Errorf("Size: %v", err)
	}
	if _, err := s.Open(t.Context(), d[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open = %v, want fs.ErrNotExist", err)
	}
}

// TestSweepChecksReferencesTwice simulates a record committed between the mark phase and
// the removal. The blob must stay.
func TestSweepChecksReferencesTwice(t *testing.T) {
	s, _ := newStore(t)
	commitAll(t, s, sample(10, 43))
	calls := 0
	got, err := s.Sweep(t.Context(), func(Digest) (bool, error) {
		calls++
		return calls == 2, nil
	})
	if err != nil || got.Removed != 0 || got.Kept != 1 {
		t.Errorf("Sweep = %+v, %v, want 1 kept", got, err)
	}
}

// TestSweepBlocksOneDigest checks that a digest can't be pinned while its blob is being
// removed, but that other digests can.
func TestSweepBlocksOneDigest(t *testing.T) {
	s, rec := newStore(t)
	d := commitAll(t, s, sample(10, 47), sample(10, 48))
	now, cancel := context.WithCancel(t.Context())
	cancel()
	tried := 0
	try := func() {
		if _, err := s.Pin(now, d[0]); err == nil {
			t.Error("Pin returned during the removal of the digest")
		}
		release, err := s.Pin(now, d[1])
		if err != nil {
			t.Errorf("Pin of another digest: %v", err)
		}
		release()
		tried++
	}
	rec.failWith(func(_ int, step string) error {
		if step == "remove "+d[0].String() {
			try()
		}
		return nil
	})
	calls := 0
	got, err := s.Sweep(t.Context(), func(x Digest) (bool, error) {
		if calls++; calls > 2 && x == d[0] {
			try()
		}
		return x == d[1], nil
	})
	if err != nil || got.Removed != 1 || tried != 2 {
		t.Errorf("Sweep = %+v, %v after %d tries, want 1 removed after 2", got, err, tried)
	}
	release, err := s.Pin(now, d[0])
	if err != nil {
		t.Errorf("Pin after the sweep: %v", err)
	}
	release()
}

func TestSweepErrors(t *testing.T) {
	broken := errors.New("database closed")
	rows := []struct {
		name    string
		calls   int // number of calls before the error
		remove  error
		want    error
		removed int
	}{
		{"while marking", 1, nil, broken, 0},
		{"before a removal", 3, nil, broken, 1},
		{"disk", 9, syscall.EIO, syscall.EIO, 0},
		{"held open", 9, blob.ErrInUse, nil, 0},
		{"gone already", 9, fs.ErrNotExist, nil, 0},
	}
	s, rec := newStore(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			commitAll(t, s, sample(10, 44), sample(10, 45))
			rec.failWith(func(_ int, step string) error {
				if strings.HasPrefix(step, "remove ") {
					return row.remove
				}
				return nil
			})
			calls := 0
			got, err := s.Sweep(t.Context(), func(Digest) (bool, error) {
				if calls++; calls > row.calls {
					return false, broken
				}
				return false, nil
			})
			if !errors.Is(err, row.want) || got.Removed != row.removed {
				t.Errorf("Sweep = %+v, %v, want %d removed, %v", got, err, row.removed, row.want)
			}
			rec.failWith(nil)
		})
	}
}

func TestSweepIgnoresStrays(t *testing.T) {
	s, _ := newStore(t)
	d := commitAll(t, s, sample(10, 46))[0]
	name := d.String()
	wrongShard := filepath.Join(s.dir, "00", "ff"+strings.Repeat("1", 62))
	strays := []string{
		filepath.Join(s.dir, "note.txt"),
		filepath.Join(s.dir, name[:2], "note.txt"),
		filepath.Join(s.dir, name[:2], strings.ToUpper(name)+"X"),
		wrongShard,
	}
	for _, p := range strays {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	asDir := filepath.Join(s.dir, "11", strings.Repeat("1", 64))
	if err := os.Mkdir(asDir, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	strays = append(strays, asDir)
	got, err := s.Sweep(t.Context(), func(Digest) (bool, error) { return false, nil })
	slices.Sort(strays)
	slices.Sort(got.Strays)
	if err != nil || got.Removed != 1 || !slices.Equal(got.Strays, strays) {
		t.Errorf("Sweep = %+v, %v, want 1 removed and the strays %q", got, err, strays)
	}
	for _, p := range strays {
		if _, err := os.Lstat(p); err != nil {
			t.Errorf("stat: %v", err)
		}
	}
}

// TestConcurrentCommitAndSweep commits blobs, sweeps, and deletes records concurrently,
// using only a few digests. A pinned or referenced blob must never be missing.
func TestConcurrentCommitAndSweep(t *testing.T) {
	checkGoroutines(t)
	s, _ := newStore(t)
	book := &records{named: map[Digest]int{}}
	ctx, stop := context.WithCancel(t.Context())
	var sweeper, keepers sync.WaitGroup
	digests := commitAll(t, s, sample(50, 50), sample(50, 51), sample(50, 52))
	var result SweepResult
	sweeper.Go(func() {
		for ctx.Err() == nil {
			// Skip the mark phase. It takes the most time and isn't what this test checks.
			for _, d := range digests {
				if err := s.sweepOne(ctx, Entry{Digest: d}, book.has, &result); err != nil {
					t.Errorf("sweep one: %v", err)
				}
			}
			runtime.Gosched()
		}
	})
	for range 4 {
		keepers.Go(func() {
			for round := range 60 {
				if err := book.round(ctx, s, sample(50, uint64(50+round%3))); err != nil {
					t.Errorf("round: %v", err)
					return
				}
			}
		})
	}
	keepers.Wait()
	stop()
	sweeper.Wait()
	if _, err := s.Sweep(t.Context(), book.has); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	t.Logf("%d removals while keeping", result.Removed)
}

// records is a fake database.
type records struct {
	mu    sync.Mutex
	named map[Digest]int
}

func (r *records) has(d Digest) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.named[d] > 0, nil
}

func (r *records) add(d Digest, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.named[d] += n
}

// round commits a blob with a record, releases the pin, and deletes the record. It checks
// that the blob exists as long as it is pinned or referenced.
func (r *records) round(ctx context.Context, s *Store, content []byte) error {
	f, err := s.Stage(ctx, strings.NewReader(string(content)), -1)
	if err != nil {
		return err
	}
	release, err := s.Commit(ctx, f)
	if err != nil {
		return err
	}
	_, pinned := s.Size(ctx, f.Digest())
	r.add(f.Digest(), 1)
	release()
	_, named := s.Size(ctx, f.Digest())
	checked := s.Check(ctx, f.Digest())
	r.add(f.Digest(), -1)
	return errors.Join(pinned, named, checked)
}
