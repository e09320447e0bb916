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

	"deedkeep/app/blob"
)

// stageAll stages a file for each item of contents.
func stageAll(t *testing.T, s *Store, contents ...[]byte) []*Staged {
	t.Helper()
	var all []*Staged
	for _, c := range contents {
		st, err := s.Stage(t.Context(), bytes.NewReader(c), -1)
		if err != nil {
			t.Fatalf("Stage: %v", err)
		}
		all = append(all, st)
	}
	return all
}

// sameShard returns two different contents whose digests begin with the same byte.
func sameShard(t *testing.T, s *Store) (a, b []byte) {
	t.Helper()
	seen := map[string][]byte{}
	for i := range 300 {
		c := fmt.Appendf(nil, "document %d", i)
		st := stageAll(t, s, c)[0]
		if err := st.Discard(); err != nil {
			t.Fatalf("Discard: %v", err)
		}
		if other, ok := seen[st.Digest().String()[:2]]; ok {
			return other, c
		}
		seen[st.Digest().String()[:2]] = c
	}
	t.Fatal("300 digests are in different shards, want two in one shard")
	return nil, nil
}

// TestCommitSyncsInOrder checks the order of steps (write, sync the file, rename, sync
// the directory), and that each directory is synced only once.
func TestCommitSyncsInOrder(t *testing.T) {
	checkGoroutines(t)
	s, rec := newStore(t)
	a, b := sameShard(t, s)
	rec.forget()
	files := stageAll(t, s, a, sample(5*chunkSize, 9), b, a)
	release, err := s.Commit(t.Context(), files...)
	steps := rec.recorded()
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	release()
	for _, f := range files {
		name := f.path[strings.LastIndexAny(f.path, `/\`)+1:]
		checkOrder(t, steps, name, f.Digest())
	}
	if n := count(steps, "syncdir "+files[0].Digest().String()[:2]); n != 1 {
		t.Errorf("the shard of three files was synced %d times, want once", n)
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
			t.Errorf("%q is step %d, want it after step %d, in\n%s", step, at, last, strings.Join(steps, "\n"))
		}
		for at+1 < len(steps) && steps[at+1] == step {
			at++ // use the last of several writes
		}
		last = at
		if n := count(steps[at+1:], "write "+name); step == "chmod "+name && n > 0 {
			t.Errorf("%d writes after chmod, want 0", n)
		}
	}
}

// TestFaultAtEveryStep makes each step of staging and committing three files fail with
// each type of error. No file may be reported as stored, and no temporary file may
// remain.
func TestFaultAtEveryStep(t *testing.T) {
	checkGoroutines(t)
	s, rec := newStore(t)
	contents := [][]byte{sample(100, 20), sample(3*chunkSize, 21), sample(2000, 22)}
	upload := func() error {
		var files []*Staged
		defer func() {
			for _, f := range files {
				if err := f.Discard(); err != nil {
					t.Errorf("Discard: %v", err)
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
		t.Fatalf("upload: %v", err)
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
					t.Fatal("no step failed, want one fault")
				}
				if !errors.Is(err, fault) {
					t.Errorf("fault at %s: error = %v, want %v", hit, err, fault)
				}
				if errors.Is(err, ErrDiskFull) != (fault == syscall.ENOSPC && durable.IsDiskFull(fault)) {
					t.Errorf("fault %v at %s: error = %v, want ErrDiskFull only for a full disk", fault, hit, err)
				}
				if sync := strings.HasPrefix(hit, "sync") && !durable.IsDiskFull(fault); errors.Is(err, ErrSync) != sync {
					t.Errorf("fault %v at %s: error = %v, want ErrSync: %v", fault, hit, err, sync)
				}
			})
		}
	}
	if err := upload(); err != nil {
		t.Errorf("upload after all faults: %v", err)
	}
}

// TestFailedSyncStaysFailed checks that, after a failed sync, committing the file again
// fails too.
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
		t.Fatalf("Commit = %v, want ErrSync", err)
	}
	rec.failWith(nil)
	if _, err := s.Commit(t.Context(), f); !errors.Is(err, ErrFinished) {
		t.Errorf("Commit = %v, want ErrFinished", err)
	}
	if _, err := s.Size(t.Context(), f.Digest()); err == nil {
		t.Error("Size found a blob, want none for an unsynced file")
	}
}

// TestDiscardReturnsRemoveError checks that if the file can't be removed, Discard closes
// it and returns the error.
func TestDiscardReturnsRemoveError(t *testing.T) {
	s, rec := newStore(t)
	f := stageAll(t, s, sample(10, 31))[0]
	rec.failWith(func(_ int, step string) error {
		if strings.HasPrefix(step, "remove ") {
			return syscall.EIO
		}
		return nil
	})
	if err := f.Discard(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Discard = %v, want syscall.EIO", err)
	}
	rec.failWith(nil)
	if n, size, err := s.StaleTmp(); n != 1 || size != 10 || err != nil {
		t.Errorf("StaleTmp() = %d, %d, %v, want 1 file of 10 bytes", n, size, err)
	}
	if err := os.Remove(f.path); err != nil {
		t.Errorf("remove file: %v", err)
	}
}

func TestCommitReplacesDamagedBlob(t *testing.T) {
	s, _ := newStore(t)
	content := sample(5000, 32)
	commit := func() Digest {
		f := stageAll(t, s, content)[0]
		release, err := s.Commit(t.Context(), f)
		if err != nil {
			t.Fatalf("Commit: %v", err)
		}
		release()
		return f.Digest()
	}
	d := commit()
	damage(t, s.path(d))
	if err := s.Check(t.Context(), d); !errors.Is(err, ErrDamaged) {
		t.Fatalf("Check = %v, want ErrDamaged", err)
	}
	commit()
	if err := s.Check(t.Context(), d); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// damage flips one bit of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	b[len(b)/2] ^= 4
	if err := os.Remove(path); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := os.WriteFile(path, b, 0o400); err != nil {
		t.Fatalf("write file: %v", err)
	}
}

// TestCommitOverOpenBlob simulates Windows, where an open blob can't be replaced. If the
// open blob is intact, it stays. If it is damaged, Commit fails.
func TestCommitOverOpenBlob(t *testing.T) {
	s, rec := newStore(t)
	content := sample(5000, 33)
	f := stageAll(t, s, content)[0]
	release, err := s.Commit(t.Context(), f)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	release()
	rec.failWith(func(_ int, step string) error {
		if strings.HasPrefix(step, "rename ") {
			return blob.ErrInUse
		}
		return nil
	})
	commitAgain := func() error {
		release, err := s.Commit(t.Context(), stageAll(t, s, content)...)
		release()
		return err
	}
	if err := commitAgain(); err != nil {
		t.Errorf("Commit over an intact blob: %v", err)
	}
	damage(t, s.path(f.Digest()))
	if err := commitAgain(); !errors.Is(err, blob.ErrInUse) {
		t.Errorf("Commit over a damaged blob = %v, want %v", err, blob.ErrInUse)
	}
	if err := os.Remove(s.path(f.Digest())); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if err := commitAgain(); !errors.Is(err, blob.ErrInUse) {
		t.Errorf("Commit without a blob = %v, want %v", err, blob.ErrInUse)
	}
}

// TestCommitCanceled checks that a canceled Commit returns while a sync hangs, and leaves
// no goroutine running.
func TestCommitCanceled(t *testing.T) {
	checkGoroutines(t)
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
		t.Fatalf("Stage: %v", err)
	}
	go cancel()
	switch release, err := s.Commit(ctx, st); {
	case err == nil: // Commit finished before the cancellation
		release()
	case !errors.Is(err, context.Canceled):
		t.Errorf("Commit = %v, want context.Canceled", err)
	}
}

func TestCommitNoFileAndOneTwice(t *testing.T) {
	s, _ := newStore(t)
	release, err := s.Commit(t.Context())
	if err != nil {
		t.Errorf("Commit: %v", err)
	}
	release()
	f := stageAll(t, s, sample(10, 35))[0]
	if _, err := s.Commit(t.Context(), f, f); !errors.Is(err, ErrFinished) {
		t.Errorf("Commit of one file twice = %v, want %v", err, ErrFinished)
	}
}
