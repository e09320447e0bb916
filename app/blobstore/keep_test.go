package blobstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deedkeep/app/durable"
)

// stageAll stages each content and stops the test if that fails.
func stageAll(t *testing.T, s *Store, contents ...[]byte) []*Staged {
	t.Helper()
	var all []*Staged
	for _, c := range contents {
		st, err := s.Stage(t.Context(), bytes.NewReader(c), -1)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, st)
	}
	return all
}

// sameShard is two contents whose digests begin with the same byte.
func sameShard(t *testing.T, s *Store) (a, b []byte) {
	t.Helper()
	seen := map[string][]byte{}
	for i := range 300 {
		c := fmt.Appendf(nil, "document %d", i)
		st := stageAll(t, s, c)[0]
		if err := st.Discard(); err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[st.Digest().String()[:2]]; ok {
			return other, c
		}
		seen[st.Digest().String()[:2]] = c
	}
	t.Fatal("no two digests in one shard")
	return nil, nil
}

// TestOrderOfSteps: write* < sync(file) < rename < sync(dir) < return, and each
// directory is synced once.
func TestOrderOfSteps(t *testing.T) {
	goroutines(t)
	s, rec := newStore(t)
	a, b := sameShard(t, s)
	rec.forget()
	files := stageAll(t, s, a, sample(5*chunkSize, 9), b, a)
	release, err := s.Commit(t.Context(), files...)
	steps := rec.recorded()
	if err != nil {
		t.Fatal(err)
	}
	release()
	for _, f := range files {
		name := f.path[strings.LastIndexAny(f.path, `/\`)+1:]
		checkOrder(t, steps, name, f.Digest())
	}
	if n := count(steps, "syncdir "+files[0].Digest().String()[:2]); n != 1 {
		t.Errorf("the shard of three files was synced %d times", n)
	}
}

func count(steps []string, prefix string) (n int) {
	for _, s := range steps {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

func checkOrder(t *testing.T, steps []string, name string, d Digest) {
	t.Helper()
	order := []string{"create " + name, "write " + name, "chmod " + name, "sync " + name, "close " + name,
		"rename " + name + " " + d.String(), "syncdir " + d.String()[:2]}
	last := -1
	for _, step := range order {
		at := slices.Index(steps, step)
		if at < 0 || at < last {
			t.Errorf("%q is step %d, the one before it %d, of\n%s", step, at, last, strings.Join(steps, "\n"))
		}
		for at+1 < len(steps) && steps[at+1] == step {
			at++ // of several writes the last one counts
		}
		last = at
		if n := count(steps[at+1:], "write "+name); step == "chmod "+name && n > 0 {
			t.Errorf("%d writes after the file was sealed", n)
		}
	}
}

// TestFaultAtEveryStep lets each step of staging and keeping three files fail in
// turn, with each kind of error: nothing is acknowledged and nothing left.
func TestFaultAtEveryStep(t *testing.T) {
	goroutines(t)
	s, rec := newStore(t)
	contents := [][]byte{sample(100, 20), sample(3*chunkSize, 21), sample(2000, 22)}
	upload := func() error {
		var files []*Staged
		defer func() {
			for _, f := range files {
				if err := f.Discard(); err != nil {
					t.Error(err)
				}
			}
		}()
		for _, c := range contents {
			f, err := s.Stage(t.Context(), bytes.NewReader(c), 1<<20)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		release, err := s.Commit(t.Context(), files...)
		release()
		return err
	}
	if err := upload(); err != nil {
		t.Fatal(err)
	}
	total := len(rec.recorded())
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		for i := range total {
			t.Run(fmt.Sprintf("%v at step %d", fault, i), func(t *testing.T) {
				var hit string
				rec.forget()
				rec.failWith(func(n int, step string) error {
					if n != i {
						return nil
					}
					hit = step
					return fault
				})
				err := upload()
				rec.failWith(nil)
				s.clean(t, rec)
				if hit == "" {
					t.Fatal("the fault did not happen")
				}
				if !errors.Is(err, fault) {
					t.Errorf("%s: got %v", hit, err)
				}
				if errors.Is(err, ErrDiskFull) != (fault == syscall.ENOSPC && durable.IsDiskFull(fault)) {
					t.Errorf("%s: ErrFull? %v", hit, err)
				}
				if sync := strings.HasPrefix(hit, "sync") && !durable.IsDiskFull(fault); errors.Is(err, ErrSync) != sync {
					t.Errorf("%s: ErrSync? %v", hit, err)
				}
			})
		}
	}
	if err := upload(); err != nil {
		t.Errorf("after all faults: %v", err)
	}
}

// TestFailedSyncStaysFailed: a second Keep of the same file is no second chance.
func TestFailedSyncStaysFailed(t *testing.T) {
	s, rec := newStore(t)
	rec.failWith(func(_ int, step string) error {
		if strings.HasPrefix(step, "sync ") {
			return syscall.EIO
		}
		return nil
	})
	f := stageAll(t, s, sample(10, 30))[0]
	if _, err := s.Commit(t.Context(), f); !errors.Is(err, ErrSync) {
		t.Fatalf("got %v", err)
	}
	rec.failWith(nil)
	if _, err := s.Commit(t.Context(), f); !errors.Is(err, ErrFinished) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Size(f.Digest()); err == nil {
		t.Error("an unsynced file became a blob")
	}
}

// TestRemoveFails: the handle is closed and the error told even if the file stays.
func TestRemoveFails(t *testing.T) {
	s, rec := newStore(t)
	f := stageAll(t, s, sample(10, 31))[0]
	rec.failWith(func(_ int, step string) error {
		if strings.HasPrefix(step, "remove ") {
			return syscall.EIO
		}
		return nil
	})
	if err := f.Discard(); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	rec.failWith(nil)
	if n, size, err := s.StaleTmp(); n != 1 || size != 10 || err != nil {
		t.Errorf("leftovers: %d of %d bytes, %v", n, size, err)
	}
	if err := os.Remove(f.path); err != nil {
		t.Error(err)
	}
}

func TestKeepHealsDamagedCopy(t *testing.T) {
	s, _ := newStore(t)
	content := sample(5000, 32)
	keep := func() Digest {
		f := stageAll(t, s, content)[0]
		release, err := s.Commit(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		release()
		return f.Digest()
	}
	d := keep()
	damage(t, s.path(d))
	if err := s.Check(t.Context(), d); !errors.Is(err, ErrDamaged) {
		t.Fatalf("got %v", err)
	}
	keep()
	if err := s.Check(t.Context(), d); err != nil {
		t.Error(err)
	}
}

// damage flips one bit.
func damage(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 4
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o400); err != nil {
		t.Fatal(err)
	}
}

// TestKeepOverHeldBlob: where a blob being read cannot be replaced, a sound one
// stays and a damaged one is no success.
func TestKeepOverHeldBlob(t *testing.T) {
	s, rec := newStore(t)
	content := sample(5000, 33)
	f := stageAll(t, s, content)[0]
	release, err := s.Commit(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	release()
	rec.failWith(func(_ int, step string) error {
		if strings.HasPrefix(step, "rename ") {
			return errFileInUse
		}
		return nil
	})
	again := func() error {
		release, err := s.Commit(t.Context(), stageAll(t, s, content)...)
		release()
		return err
	}
	if err := again(); err != nil {
		t.Errorf("sound copy: %v", err)
	}
	damage(t, s.path(f.Digest()))
	if err := again(); !errors.Is(err, errFileInUse) {
		t.Errorf("damaged copy: %v", err)
	}
	if err := os.Remove(s.path(f.Digest())); err != nil {
		t.Fatal(err)
	}
	if err := again(); !errors.Is(err, errFileInUse) {
		t.Errorf("no copy: %v", err)
	}
}

// TestKeepCanceled: Keep gives up while a sync hangs, without leaving it behind.
func TestKeepCanceled(t *testing.T) {
	goroutines(t)
	s, rec := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	rec.failWith(func(_ int, step string) error {
		if strings.HasPrefix(step, "sync ") {
			<-ctx.Done()
		}
		return nil
	})
	st, err := s.Stage(ctx, bytes.NewReader(sample(10, 34)), -1)
	if err != nil {
		t.Fatal(err)
	}
	go cancel()
	switch release, err := s.Commit(ctx, st); {
	case err == nil: // it was kept before the end was seen
		release()
	case !errors.Is(err, context.Canceled):
		t.Errorf("got %v", err)
	}
}

func TestKeepNothingAndTwice(t *testing.T) {
	s, _ := newStore(t)
	release, err := s.Commit(t.Context())
	if err != nil {
		t.Error(err)
	}
	release()
	f := stageAll(t, s, sample(10, 35))[0]
	if _, err := s.Commit(t.Context(), f, f); !errors.Is(err, ErrFinished) {
		t.Errorf("the same file twice: %v", err)
	}
}
