package query

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// indexOf puts documents into an index on disk, a few with each Apply.
func indexOf(t testing.TB, documents []Document) *Index {
	t.Helper()
	x, err := Open(filepath.Join(t.TempDir(), "search"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	for len(documents) > 0 {
		n := min(4, len(documents))
		apply(t, x, documents[:n])
		documents = documents[n:]
	}
	return x
}

func apply(t testing.TB, x *Index, documents []Document) {
	t.Helper()
	b := x.NewBatch()
	for _, d := range documents {
		if err := b.Put(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Apply(context.Background(), b, []byte("here")); err != nil {
		t.Fatal(err)
	}
}

// TestIndex asks the engine what TestSearch asks the plain one.
func TestIndex(t *testing.T) {
	x := indexOf(t, library())
	n := naiveOf(t, library())
	for _, row := range searches {
		t.Run(row.name, func(t *testing.T) {
			row.query.Limit = 20
			a, err := x.Search(context.Background(), row.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(a); !sameOrder(got, row.want) || a.Fuzzy != row.fuzzy {
				t.Errorf("%q finds %s (fuzzy: %t), want %s", row.query.Text, got, a.Fuzzy, row.want)
			}
			plain, err := search(context.Background(), n, Options{}.withDefaults(), row.query)
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range plain.Counts {
				if a.Counts[k] != c {
					t.Errorf("%d of kind %d, want %d", a.Counts[k], k, c)
				}
			}
		})
	}
}

func TestPages(t *testing.T) {
	x := indexOf(t, library())
	whole, err := x.Search(context.Background(), Query{Text: "smith ", Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit <= len(whole.Hits)+1; limit++ {
		for offset := 0; offset <= len(whole.Hits); offset++ {
			a, err := x.Search(context.Background(), Query{Text: "smith ", Offset: offset, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			end := min(offset+limit, len(whole.Hits))
			if got, want := names(a), names(Result{Hits: whole.Hits[offset:end]}); got != want {
				t.Errorf("%d hits from %d on are %s, want %s", limit, offset, got, want)
			}
			// Behind the four that have it, one has a typing error: it is looked for where they do not fill the page.
			if more := end < len(whole.Hits) && (end < 4 || offset+limit > 4); a.More != more {
				t.Errorf("%d hits from %d on: more is %t", limit, offset, a.More)
			}
		}
	}
}

func TestPutAndRemove(t *testing.T) {
	x := indexOf(t, library())
	b := x.NewBatch()
	b.Remove(Order, 1)
	if err := b.Put(Document{Kind: Abstract, ID: 1, Numbers: []string{"2026-0999"}}); err != nil {
		t.Fatal(err)
	}
	if b.Bytes() <= 0 {
		t.Error("the batch holds nothing")
	}
	if err := x.Apply(context.Background(), b, []byte("there")); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ text, want string }{{"2026-0117", ""}, {"2026-0999", "a1"}, {"2026-0118", "a2"}} {
		a, err := x.Search(context.Background(), Query{Text: row.text, Limit: 9})
		if err != nil || names(a) != row.want {
			t.Errorf("%q finds %s (%v), want %s", row.text, names(a), err, row.want)
		}
	}
	if got := string(x.Checkpoint()); got != "there" {
		t.Errorf("the mark is %q", got)
	}
	if got, want := x.Stats().Documents, len(library())-1; got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
	if err := x.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestPutRefuses(t *testing.T) {
	x := indexOf(t, nil)
	unread := errors.New("unread")
	for _, row := range []struct {
		name string
		d    Document
		want error
	}{
		{"no kind", Document{ID: 1}, nil},
		{"an unknown kind", Document{Kind: 4, ID: 1}, nil},
		{"a large ID", Document{Kind: File, ID: 1 << 56}, nil},
		{"a text that ends early", Document{Kind: File, ID: 1, Text: func(func(string) error) error { return unread }}, unread},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := x.NewBatch().Put(row.d); err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestLateSearch(t *testing.T) {
	x := indexOf(t, library())
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	if _, err := x.Search(late, Query{Text: "smith", Limit: 5}); !errors.Is(err, ErrDeadline) {
		t.Errorf("%v, want %v", err, ErrDeadline)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(gone, Query{Text: "smith", Limit: 5}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDeadline) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// TestHeaviest: what stands for the most terms is within the engine's bounds.
func TestHeaviest(t *testing.T) {
	var words strings.Builder
	for _, w := range singleEdits("mortgage") {
		words.WriteString(w + " " + w + "or ")
	}
	for i := range 200 {
		fmt.Fprintf(&words, "internationalized%d 2026-0117-0003-%04d ", i, i)
	}
	all := words.String()
	documents := []Document{
		{Kind: Abstract, ID: 1, Names: []string{all}, Fields: []string{all}},
		{Kind: File, ID: 1, Names: strings.Fields(all), Numbers: strings.Fields(all), Text: pages(all)},
	}
	x, n := indexOf(t, documents), naiveOf(t, documents)
	for _, row := range []struct{ name, text string }{
		{"typing errors", strings.Repeat("mortgag ", 32)},
		{"in different words", "mortgage mortgagee ortgage mrtgage motgage morage mortgge mortgae mortgagx mortgxge mxrtgage"},
		{"in one", strings.TrimSuffix(strings.Repeat("mortgag-", 32), "-")},
		{"a phrase being typed", `"` + strings.Repeat("mortgage ", 31) + "internationali"},
		{"numbers being typed", strings.TrimSpace(strings.Repeat("2026-0117-0003-00 ", 8))},
		{"one number being typed", strings.Repeat("7-", 31) + "2026"},
		{"letters", strings.Repeat("o ", 31) + "mortgag"},
		{"parts and blanks", strings.Repeat("1-2 3 ", 10) + "mortga"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := x.Search(context.Background(), Query{Text: row.text, Limit: 1000}); err != nil {
				t.Error(err)
			}
			n.asked = 0
			if _, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: row.text, Limit: 1000}); err != nil {
				t.Error(err)
			}
			if most := maxNodes(defaultMaxWords); n.asked < 64 || n.asked > most {
				t.Errorf("%d nodes, want 64 to %d", n.asked, most)
			}
			t.Logf("%d nodes", n.asked)
		})
	}
}

// TestDamage: what the engine says of damage comes through, and Remove helps.
func TestDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "search")
	x, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, x, library())
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name()), []byte("of another kind altogether"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = Open(dir, Options{}); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOtherFormat) {
		t.Fatalf("%v, want %v", err, ErrDamaged)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if x, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if x.Checkpoint() != nil || x.Stats().Documents != 0 {
		t.Error("something is left")
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
