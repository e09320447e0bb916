package index

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// openTest opens a new index without background merges. The index is closed at the end of the test.
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
	_, searchErr := x.Search(t.Context(), Query{})
	_, freqsErr := x.DocFreqs(t.Context(), []string{"t"})
	_, termsErr := x.Terms(t.Context(), "t", 1)
	for name, err := range map[string]error{
		"Search": searchErr, "DocFreqs": freqsErr, "Terms": termsErr,
		"Apply": x.Apply(t.Context(), x.NewBatch(), nil), "Check": x.Check(t.Context()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s = %v, want %v", name, err, ErrClosed)
		}
	}
	if x.Checkpoint() != nil || x.Stats() != (Stats{}) {
		t.Errorf("Checkpoint() = %q, Stats() = %+v; want nil and zero", x.Checkpoint(), x.Stats())
	}
}

// oneSegment returns an index with one segment, which contains the documents that fill adds.
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

// Unknown files in the directory are kept. They do not make Open treat the directory as an existing
// index.
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

// Inspect returns the same statistics and checkpoint as the open index.
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
