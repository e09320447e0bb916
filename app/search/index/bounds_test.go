package index

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Of a word that a document has again and again a batch holds a bounded part.
func TestABatchHoldsABoundedPartOfAWord(t *testing.T) {
	x, err := Open(filepath.Join(t.TempDir(), "i"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	const most = 2 * maxOccurrences
	b.StartDocument(1, 0, 0)
	for n := range uint32(most) {
		b.AddWord([]byte("aa"), n)
	}
	b.AddWord([]byte("bb"), most)
	if held := b.Bytes(); held > 2*maxOccurrences {
		t.Errorf("the batch holds %d bytes of one word", held)
	}
	b.StartDocument(2, 0, 0) // the next one has all of its own
	b.AddWord([]byte("aa"), 0)
	b.AddWord([]byte("bb"), 1)
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name  string
		terms []string
		want  int
	}{
		{"within", []string{"aa", "aa"}, 1},
		{"the next document", []string{"aa", "bb"}, 1},
	} {
		a, err := x.Search(t.Context(), Query{Node: Phrase{Terms: row.terms, Weight: 1}, Limit: 9})
		if err != nil || len(a.Hits) != row.want {
			t.Errorf("%s: %+v, %v", row.name, a, err)
		}
	}
}

// Look tells of an index what it tells itself, and writes nothing.
func TestLook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "i")
	if _, _, err := Inspect(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}
	x, err := open(dir, Options{}, osFileSystem{}) // which does not merge meanwhile
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBatch()
	b.StartDocument(1, 0, 0)
	b.AddTerm([]byte("aa"))
	b.StartDocument(2, 0, 0)
	b.AddTerm([]byte("bb"))
	if err := x.Apply(t.Context(), b, []byte("one")); err != nil {
		t.Fatal(err)
	}
	b = x.NewBatch()
	b.Remove(1)
	if err := x.Apply(t.Context(), b, []byte("two")); err != nil {
		t.Fatal(err)
	}
	want := x.Stats()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	got, mark, err := Inspect(dir)
	if err != nil || got != want || string(mark) != "two" || got.Documents != 1 {
		t.Errorf("%+v, %q, %v; want %+v", got, mark, err, want)
	}
}
