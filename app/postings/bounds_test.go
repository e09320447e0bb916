package postings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Of a word that a document has again and again a bounded number of places is kept: all
// that a search may have to hold.
func TestPlacesOfOneDocumentAreBounded(t *testing.T) {
	x, err := Open(filepath.Join(t.TempDir(), "i"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	b := x.Batch()
	const most = 2 * MostPlaces
	b.Begin(1, 0, 0)
	for n := range uint32(most) {
		b.Word([]byte("aa"), n)
	}
	b.Word([]byte("bb"), most)
	b.Begin(2, 0, 0) // the next one has all of its own
	b.Word([]byte("aa"), 0)
	b.Word([]byte("bb"), 1)
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
	s, err := x.acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	if size := s.views[0].segment.size; size > 5*MostPlaces/4 {
		t.Errorf("%d bytes on disk", size)
	}
}

// A disk that does not read is no damage: what lies on it is not thrown away.
func TestADiskThatDoesNotReadIsNoDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 4*footerSize), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // which no read gets through
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p := &pageFile{file: f, size: 4 * footerSize}
	if err := p.readFooter(1, 0); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("the footer: %v", err)
	}
}

// Look tells of an index what it tells itself, and writes nothing.
func TestLook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "i")
	if _, _, err := Look(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}
	x, err := open(dir, Options{}, system{}) // which does not merge meanwhile
	if err != nil {
		t.Fatal(err)
	}
	b := x.Batch()
	b.Begin(1, 0, 0)
	b.Flat([]byte("aa"))
	b.Begin(2, 0, 0)
	b.Flat([]byte("bb"))
	if err := x.Apply(t.Context(), b, []byte("one")); err != nil {
		t.Fatal(err)
	}
	b = x.Batch()
	b.Remove(1)
	if err := x.Apply(t.Context(), b, []byte("two")); err != nil {
		t.Fatal(err)
	}
	want := x.Stats()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	got, mark, err := Look(dir)
	if err != nil || got != want || string(mark) != "two" || got.Documents != 1 {
		t.Errorf("%+v, %q, %v; want %+v", got, mark, err, want)
	}
}

// No merge begins for which there is no room, and Apply goes on all the same.
func TestMergesAskForRoom(t *testing.T) {
	asked := int64(0)
	x, err := open(filepath.Join(t.TempDir(), "i"), Options{Room: func(bytes int64) bool { asked = bytes; return false }}, system{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	for n := range uint64(20) {
		b := x.Batch()
		b.Begin(n, 0, 0)
		b.Flat([]byte("aa"))
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := x.mergeOnce(t.Context()); done || err != nil || asked <= 0 || asked > x.Stats().Bytes {
		t.Errorf("merged %t, %v, asked for %d", done, err, asked)
	}
	x.options.Room = nil
	if done, err := x.mergeOnce(t.Context()); !done || err != nil || x.Stats().Segments >= 20 {
		t.Errorf("merged %t, %v", done, err)
	}
}
