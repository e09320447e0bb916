package index

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func openTest(t *testing.T, o Options) *Index {
	t.Helper()
	x, err := open(t.TempDir(), o, noSyncDisk{})
	if err != nil {
		t.Fatalf("open index: %v", err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return x
}

func TestClosed(t *testing.T) {
	x := openTest(t, Options{})
	if err := x.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	_, searched := x.Search(t.Context(), Query{})
	_, freqs := x.DocFreqs(t.Context(), []string{"t"})
	_, terms := x.Terms(t.Context(), "t", 1)
	for _, err := range []error{searched, freqs, terms, x.Apply(t.Context(), x.NewBatch(), nil), x.Check(t.Context())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want %v", err, ErrClosed)
		}
	}
	if x.Checkpoint() != nil || x.Stats() != (Stats{}) {
		t.Error("a closed index has a checkpoint or statistics")
	}
}

// oneSegment opens an index of one segment.
func oneSegment(t *testing.T, o Options, fill func(b *Batch)) (*Index, *openSegment) {
	t.Helper()
	x := openTest(t, o)
	b := x.NewBatch()
	fill(b)
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return x, x.current.views[0].segment
}

// Unknown files in the directory are kept and are not taken for an index.
func TestOpenKeepsUnknownFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".DS_Store", manifestNew} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	for range 2 {
		x, err := open(dir, Options{}, noSyncDisk{})
		if err != nil {
			t.Fatalf("open index: %v", err)
		}
		if err := x.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".DS_Store")); err != nil {
		t.Errorf("Stat: %v", err)
	}
}

// Inspect returns what the open index returns.
func TestInspect(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "i")
	if _, _, err := Inspect(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Inspect of a missing index = %v, want %v", err, os.ErrNotExist)
	}
	x, err := open(dir, Options{}, osFileSystem{}) // without background merges
	if err != nil {
		t.Fatalf("open index: %v", err)
	}
	b := x.NewBatch()
	b.StartDocument(1, 0, 0)
	b.AddTerm([]byte("aa"))
	b.StartDocument(2, 0, 0)
	b.AddTerm([]byte("bb"))
	if err := x.Apply(t.Context(), b, []byte("one")); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	b = x.NewBatch()
	b.Remove(1)
	if err := x.Apply(t.Context(), b, []byte("two")); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	want := x.Stats()
	if err := x.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	got, checkpoint, err := Inspect(dir)
	if err != nil || got != want || string(checkpoint) != "two" || got.Documents != 1 {
		t.Errorf("Inspect = %+v, %q, %v, want %+v, \"two\"", got, checkpoint, err, want)
	}
}
