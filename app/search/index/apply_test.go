package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// crashRun is a sequence of operations on an index until its machine stops.
type crashRun struct {
	t            *testing.T
	disk         *faultyDisk
	dir          string
	acknowledged *model // acknowledged state
	attempted    *model // state if the operation in progress succeeded
}

// run returns at the power failure or at the end.
func (l *crashRun) run() error {
	r := generator{rand.New(rand.NewPCG(3, 4))}
	x, err := open(l.dir, Options{}, l.disk)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	for step := range 5 {
		b := x.NewBatch()
		l.attempted = l.acknowledged.clone()
		for range 12 {
			if r.IntN(5) == 0 {
				key := uint64(r.IntN(30))
				b.Remove(key)
				l.attempted.remove(key)
			}
			d := r.doc(30)
			d.addTo(b)
			l.attempted.put(d)
		}
		l.attempted.checkpoint = fmt.Sprint(step)
		if err := l.retryOnce(func() error { return x.Apply(l.t.Context(), b, []byte(l.attempted.checkpoint)) }); err != nil {
			return err
		}
		l.acknowledged = l.attempted
		if step%2 == 0 {
			continue
		}
		if err := l.retryOnce(func() error { return mergeAll(l.t, x) }); err != nil {
			return err
		}
		verify(l.t, x, l.acknowledged, r, 2)
	}
	return nil
}

// retryOnce retries an operation if the disk fails only once.
func (l *crashRun) retryOnce(do func() error) error {
	err := do()
	if l.disk.once && errors.Is(err, errPowerFailure) {
		err = do()
	}
	return err
}

func mergeAll(t *testing.T, x *Index) error {
	t.Helper()
	s, err := x.acquire()
	if err != nil {
		return err
	}
	defer s.release()
	return x.merge(t.Context(), s.views)
}

func newCrashRun(t *testing.T, dir string, left int) *crashRun {
	return &crashRun{t: t, disk: newFaultyDisk(left), dir: dir, acknowledged: &model{}, attempted: &model{}}
}

// After a power failure at any step, the index has the last acknowledged state or the one being
// written. The checkpoint tells which, and the index remains usable.
func TestPowerFailure(t *testing.T) {
	complete := newCrashRun(t, filepath.Join(t.TempDir(), "index"), -1)
	if err := complete.run(); err != nil {
		t.Fatalf("run: %v", err)
	}
	if complete.disk.steps < 50 {
		t.Fatalf("the run has %d steps, want at least 50", complete.disk.steps)
	}
	for kind := range lostKinds {
		for cut := range complete.disk.steps {
			t.Run(fmt.Sprintf("lost %d at %d", kind, cut), func(t *testing.T) {
				t.Parallel()
				l := newCrashRun(t, filepath.Join(t.TempDir(), "index"), cut)
				if err := l.run(); err != nil && !errors.Is(err, errPowerFailure) {
					t.Fatalf("run: %v", err)
				}
				if err := l.disk.loseUnsynced(kind); err != nil {
					t.Fatalf("loseUnsynced: %v", err)
				}
				l.reopenAndVerify()
			})
		}
	}
}

// If the disk fails at any single step, for example because it is full, the same batch can be
// applied again to the same open index.
func TestRetryAfterOneFailure(t *testing.T) {
	complete := newCrashRun(t, filepath.Join(t.TempDir(), "index"), -1)
	if err := complete.run(); err != nil {
		t.Fatalf("run: %v", err)
	}
	opening := newFaultyDisk(-1) // opening is not retried
	if x, err := open(filepath.Join(t.TempDir(), "index"), Options{}, opening); err != nil || x.Close() != nil {
		t.Fatalf("open index: %v", err)
	}
	for at := opening.steps; at < complete.disk.steps; at++ {
		t.Run(fmt.Sprintf("at %d", at), func(t *testing.T) {
			t.Parallel()
			l := newCrashRun(t, filepath.Join(t.TempDir(), "index"), at)
			l.disk.once = true
			if err := l.run(); err != nil {
				t.Fatalf("run: %v", err)
			}
			l.reopenAndVerify()
		})
	}
}

// reopenAndVerify opens the index again and compares it with the model.
func (l *crashRun) reopenAndVerify() {
	l.t.Helper()
	x, err := open(l.dir, Options{Cache: 1}, noSyncDisk{})
	if err != nil {
		l.t.Fatalf("open index: %v", err)
	}
	defer func() { _ = x.Close() }()
	want := l.acknowledged
	if string(x.Checkpoint()) == l.attempted.checkpoint {
		want = l.attempted
	}
	r := generator{rand.New(rand.NewPCG(5, 6))}
	verify(l.t, x, want, r, 3)
	b := x.NewBatch()
	d := r.doc(30)
	d.addTo(b)
	want = want.clone()
	want.put(d)
	want.checkpoint = "later"
	if err := x.Apply(l.t.Context(), b, []byte(want.checkpoint)); err != nil {
		l.t.Fatalf("Apply: %v", err)
	}
	verify(l.t, x, want, r, 2)
	if err := x.Check(l.t.Context()); err != nil {
		l.t.Fatalf("Check: %v", err)
	}
}
