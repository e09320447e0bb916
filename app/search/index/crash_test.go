package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// life is what an index goes through until its machine stops.
type life struct {
	t     *testing.T
	disk  *cutter
	dir   string
	told  *model // what was acknowledged
	tried *model // what was under way at the end
}

// live returns at the cut, or when all is done.
func (l *life) live() error {
	r := scene{rand.New(rand.NewPCG(3, 4))}
	x, err := open(l.dir, Options{}, l.disk)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	for step := range 5 {
		b := x.NewBatch()
		l.tried = l.told.clone()
		for range 12 {
			if r.IntN(5) == 0 {
				key := uint64(r.IntN(30))
				b.Remove(key)
				l.tried.remove(key)
			}
			d := r.doc(30)
			d.into(b)
			l.tried.put(d)
		}
		l.tried.mark = fmt.Sprint(step)
		if err := l.twice(func() error { return x.Apply(l.t.Context(), b, []byte(l.tried.mark)) }); err != nil {
			return err
		}
		l.told = l.tried
		if step%2 == 0 {
			continue
		}
		if err := l.twice(func() error { return mergeAll(l.t, x) }); err != nil {
			return err
		}
		verify(l.t, x, l.told, r, 2)
	}
	return nil
}

// twice tries again where the disk failed but once.
func (l *life) twice(do func() error) error {
	err := do()
	if l.disk.once && errors.Is(err, errCut) {
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

func newLife(t *testing.T, dir string, left int) *life {
	return &life{t: t, disk: newCutter(left), dir: dir, told: &model{}, tried: &model{}}
}

// After a cut at any step the index is as it was acknowledged, or as it was about to
// be; it says which by its mark, and lives on.
func TestCut(t *testing.T) {
	whole := newLife(t, filepath.Join(t.TempDir(), "index"), -1)
	if err := whole.live(); err != nil {
		t.Fatal(err)
	}
	if whole.disk.steps < 50 {
		t.Fatalf("only %d steps", whole.disk.steps)
	}
	for kind := range lostKinds {
		for cut := range whole.disk.steps {
			t.Run(fmt.Sprintf("lost %d at %d", kind, cut), func(t *testing.T) {
				t.Parallel()
				l := newLife(t, filepath.Join(t.TempDir(), "index"), cut)
				if err := l.live(); err != nil && !errors.Is(err, errCut) {
					t.Fatal(err)
				}
				if err := l.disk.lose(kind); err != nil {
					t.Fatal(err)
				}
				l.rise()
			})
		}
	}
}

// A disk that fails at any one step, as one that is full for a while, costs nothing but
// trying again, with the same batch and the same open index.
func TestFailOnce(t *testing.T) {
	whole := newLife(t, filepath.Join(t.TempDir(), "index"), -1)
	if err := whole.live(); err != nil {
		t.Fatal(err)
	}
	opening := newCutter(-1) // which is not tried again
	if x, err := open(filepath.Join(t.TempDir(), "index"), Options{}, opening); err != nil || x.Close() != nil {
		t.Fatal(err)
	}
	for at := opening.steps; at < whole.disk.steps; at++ {
		t.Run(fmt.Sprintf("at %d", at), func(t *testing.T) {
			t.Parallel()
			l := newLife(t, filepath.Join(t.TempDir(), "index"), at)
			l.disk.once = true
			if err := l.live(); err != nil {
				t.Fatal(err)
			}
			l.rise()
		})
	}
}

// rise opens the index again and looks at it.
func (l *life) rise() {
	l.t.Helper()
	x, err := open(l.dir, Options{Cache: 1}, unsynced{})
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	is := l.told
	if string(x.Checkpoint()) == l.tried.mark {
		is = l.tried
	}
	r := scene{rand.New(rand.NewPCG(5, 6))}
	verify(l.t, x, is, r, 3)
	b := x.NewBatch()
	d := r.doc(30)
	d.into(b)
	is = is.clone()
	is.put(d)
	is.mark = "later"
	if err := x.Apply(l.t.Context(), b, []byte(is.mark)); err != nil {
		l.t.Fatal(err)
	}
	verify(l.t, x, is, r, 2)
	if err := x.Check(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}
