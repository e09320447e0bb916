package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// crashRun runs a sequence of operations on an index until the machine stops.
type crashRun struct {
	t            *testing.T
	disk         *faultyDisk
	dir          string
	acknowledged *model // state after the last successful operation
	attempted    *model // state if the operation in progress succeeds
}

// run applies and merges batches until the power failure or until all operations are done.
func (c *crashRun) run() error {
	r := generator{rand.New(rand.NewPCG(3, 4))}
	x, err := open(c.dir, Options{}, c.disk)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	for step := range 5 {
		b := x.NewBatch()
		c.attempted = c.acknowledged.clone()
		for range 12 {
			if r.IntN(5) == 0 {
				key := uint64(r.IntN(30))
				b.Remove(key)
				c.attempted.remove(key)
			}
			d := r.doc(30)
			d.addTo(b)
			c.attempted.put(d)
		}
		c.attempted.checkpoint = fmt.Sprint(step)
		if err := c.retryOnce(func() error { return x.Apply(c.t.Context(), b, []byte(c.attempted.checkpoint)) }); err != nil {
			return err
		}
		c.acknowledged = c.attempted
		if step%2 == 0 {
			continue
		}
		if err := c.retryOnce(func() error { return mergeAll(c.t, x) }); err != nil {
			return err
		}
		verify(c.t, x, c.acknowledged, r, 2)
	}
	return nil
}

// retryOnce retries an operation if the disk fails only once.
func (c *crashRun) retryOnce(do func() error) error {
	err := do()
	if c.disk.once && errors.Is(err, errPowerFailure) {
		err = do()
	}
	return err
}

// mergeAll merges all segments of the index.
func mergeAll(t *testing.T, x *Index) error {
	t.Helper()
	s, err := x.acquire()
	if err != nil {
		return err
	}
	defer s.release()
	return x.merge(t.Context(), s.views)
}

// newCrashRun returns a run whose disk fails after the given number of steps. If left is negative,
// the disk never fails.
func newCrashRun(t *testing.T, dir string, left int) *crashRun {
	return &crashRun{t: t, disk: newFaultyDisk(left), dir: dir, acknowledged: &model{}, attempted: &model{}}
}

// After a power failure at any step, the index has either the last acknowledged state or the one
// being written. The checkpoint shows which one, and the index remains usable.
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
				c := newCrashRun(t, filepath.Join(t.TempDir(), "index"), cut)
				if err := c.run(); err != nil && !errors.Is(err, errPowerFailure) {
					t.Fatalf("run: %v", err)
				}
				if err := c.disk.loseUnsynced(kind); err != nil {
					t.Fatalf("loseUnsynced: %v", err)
				}
				c.reopenAndVerify()
			})
		}
	}
}

// If the disk fails at any single step, for example because it is full, the same batch can be
// applied again without reopening the index.
func TestRetryAfterOneFailure(t *testing.T) {
	complete := newCrashRun(t, filepath.Join(t.TempDir(), "index"), -1)
	if err := complete.run(); err != nil {
		t.Fatalf("run: %v", err)
	}
	opening := newFaultyDisk(-1) // Open is not retried
	if x, err := open(filepath.Join(t.TempDir(), "index"), Options{}, opening); err != nil || x.Close() != nil {
		t.Fatalf("open index: %v", err)
	}
	for at := opening.steps; at < complete.disk.steps; at++ {
		t.Run(fmt.Sprintf("at %d", at), func(t *testing.T) {
			t.Parallel()
			c := newCrashRun(t, filepath.Join(t.TempDir(), "index"), at)
			c.disk.once = true
			if err := c.run(); err != nil {
				t.Fatalf("run: %v", err)
			}
			c.reopenAndVerify()
		})
	}
}

// reopenAndVerify reopens the index and compares it with the model.
func (c *crashRun) reopenAndVerify() {
	c.t.Helper()
	x, err := open(c.dir, Options{Cache: 1}, noSyncDisk{})
	if err != nil {
		c.t.Fatalf("open index: %v", err)
	}
	defer func() { _ = x.Close() }()
	want := c.acknowledged
	if string(x.Checkpoint()) == c.attempted.checkpoint {
		want = c.attempted
	}
	r := generator{rand.New(rand.NewPCG(5, 6))}
	verify(c.t, x, want, r, 3)
	b := x.NewBatch()
	d := r.doc(30)
	d.addTo(b)
	want = want.clone()
	want.put(d)
	want.checkpoint = "later"
	if err := x.Apply(c.t.Context(), b, []byte(want.checkpoint)); err != nil {
		c.t.Fatalf("Apply: %v", err)
	}
	verify(c.t, x, want, r, 2)
	if err := x.Check(c.t.Context()); err != nil {
		c.t.Fatalf("Check: %v", err)
	}
}
