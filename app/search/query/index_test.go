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

// newTestIndex creates an index on disk and adds the documents in small batches.
func newTestIndex(t testing.TB, documents []Document) *Index {
	t.Helper()
	x, err := Open(filepath.Join(t.TempDir(), "search"), Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	for len(documents) > 0 {
		n := min(4, len(documents))
		apply(t, x, documents[:n])
		documents = documents[n:]
	}
	return x
}

// apply adds documents to an index in one batch.
func apply(t testing.TB, x *Index, documents []Document) {
	t.Helper()
	b := x.NewBatch()
	for _, d := range documents {
		if err := b.Put(d); err != nil {
			t.Fatalf("Put: %v", err)
		}
	}
	if err := x.Apply(context.Background(), b, []byte("first")); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

// TestIndex runs the searches of TestSearch on an index on disk.
func TestIndex(t *testing.T) {
	x := newTestIndex(t, library())
	n := newNaiveEngine(t, library())
	for _, row := range searches {
		t.Run(row.name, func(t *testing.T) {
			row.query.Limit = 20
			a, err := x.Search(context.Background(), row.query)
			if err != nil {
				t.Fatalf("Search: %v", err)
			}
			if got := formatHits(a); !sameOrder(got, row.want) || a.Fuzzy != row.fuzzy {
				t.Errorf("Search(%q) = %s (fuzzy: %t), want %s", row.query.Text, got, a.Fuzzy, row.want)
			}
			plain, err := search(context.Background(), n, Options{}.withDefaults(), row.query)
			if err != nil {
				t.Fatalf("search: %v", err)
			}
			for k, c := range plain.Counts {
				if a.Counts[k] != c {
					t.Errorf("Counts[%s] = %d, want %d", k, a.Counts[k], c)
				}
			}
		})
	}
}

func TestPages(t *testing.T) {
	x := newTestIndex(t, library())
	complete, err := x.Search(context.Background(), Query{Text: "smith ", Limit: 20})
	if err != nil {
		t.Fatalf("Search: %v", err)
	}
	for limit := 1; limit <= len(complete.Hits)+1; limit++ {
		for offset := 0; offset <= len(complete.Hits); offset++ {
			a, err := x.Search(context.Background(), Query{Text: "smith ", Offset: offset, Limit: limit})
			if err != nil {
				t.Fatalf("Search: %v", err)
			}
			end := min(offset+limit, len(complete.Hits))
			if got, want := formatHits(a), formatHits(Result{Hits: complete.Hits[offset:end]}); got != want {
				t.Errorf("%d hits from %d on = %s, want %s", limit, offset, got, want)
			}
			// The fifth hit has a typo. It is found only if the four exact hits don't fill
			// the page.
			if more := end < len(complete.Hits) && (end < 4 || offset+limit > 4); a.More != more {
				t.Errorf("%d hits from %d on: More = %t, want %t", limit, offset, a.More, more)
			}
		}
	}
}

func TestPutAndRemove(t *testing.T) {
	x := newTestIndex(t, library())
	b := x.NewBatch()
	b.Remove(Order, 1)
	if err := b.Put(Document{Kind: Abstract, ID: 1, Numbers: []string{"2026-0999"}}); err != nil {
		t.Fatalf("Put: %v", err)
	}
	if b.Bytes() <= 0 {
		t.Errorf("Bytes() = %d, want more than 0", b.Bytes())
	}
	if err := x.Apply(context.Background(), b, []byte("second")); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	for _, row := range []struct{ text, want string }{{"2026-0117", ""}, {"2026-0999", "a1"}, {"2026-0118", "a2"}} {
		t.Run(row.text, func(t *testing.T) {
			a, err := x.Search(context.Background(), Query{Text: row.text, Limit: 9})
			if err != nil || formatHits(a) != row.want {
				t.Errorf("Search(%q) = %s, %v, want %s", row.text, formatHits(a), err, row.want)
			}
		})
	}
	if got := string(x.Checkpoint()); got != "second" {
		t.Errorf("Checkpoint() = %q, want \"second\"", got)
	}
	if got, want := x.Stats().Documents, len(library())-1; got != want {
		t.Errorf("Stats().Documents = %d, want %d", got, want)
	}
	if err := x.Check(context.Background()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func TestPutRejectsInvalidDocuments(t *testing.T) {
	x := newTestIndex(t, nil)
	unread := errors.New("unread")
	for _, row := range []struct {
		name string
		d    Document
		want error
	}{
		{"missing kind", Document{ID: 1}, nil},
		{"unknown kind", Document{Kind: "folder", ID: 1}, nil},
		{"ID too large", Document{Kind: File, ID: 1 << 56}, nil},
		{"error of the text", Document{Kind: File, ID: 1, Text: func(func(string) error) error { return unread }}, unread},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := x.NewBatch().Put(row.d); err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("Put = %v, want an error (%v)", err, row.want)
			}
		})
	}
}

func TestSearchDeadline(t *testing.T) {
	x := newTestIndex(t, library())
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	if _, err := x.Search(late, Query{Text: "smith", Limit: 5}); !errors.Is(err, ErrDeadline) {
		t.Errorf("Search after the deadline = %v, want %v", err, ErrDeadline)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(canceled, Query{Text: "smith", Limit: 5}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDeadline) {
		t.Errorf("Search with a canceled context = %v, want %v", err, context.Canceled)
	}
}

// TestExpensiveQueries checks that the queries that look up the most terms do not exceed the limit
// of nodes.
func TestExpensiveQueries(t *testing.T) {
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
	x, n := newTestIndex(t, documents), newNaiveEngine(t, documents)
	for _, row := range []struct{ name, text string }{
		{"misspelled words", strings.Repeat("mortgag ", 32)},
		{"different misspelled words", "mortgage mortgagee ortgage mrtgage motgage morage mortgge mortgae mortgagx mortgxge mxrtgage"},
		{"misspelled words with hyphens", strings.TrimSuffix(strings.Repeat("mortgag-", 32), "-")},
		{"open phrase", `"` + strings.Repeat("mortgage ", 31) + "internationali"},
		{"number prefixes", strings.TrimSpace(strings.Repeat("2026-0117-0003-00 ", 8))},
		{"prefix of a long number", strings.Repeat("7-", 31) + "2026"},
		{"single letters", strings.Repeat("o ", 31) + "mortgag"},
		{"numbers with hyphens and blanks", strings.Repeat("1-2 3 ", 10) + "mortga"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := x.Search(context.Background(), Query{Text: row.text, Limit: 1000}); err != nil {
				t.Errorf("Search: %v", err)
			}
			n.maxNodes = 0
			if _, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: row.text, Limit: 1000}); err != nil {
				t.Errorf("search: %v", err)
			}
			if limit := maxNodes(defaultMaxWords); n.maxNodes < 64 || n.maxNodes > limit {
				t.Errorf("%d nodes, want 64 to %d", n.maxNodes, limit)
			}
			t.Logf("%d nodes", n.maxNodes)
		})
	}
}

// TestDamage checks that damage is reported, and that reopening after the directory is deleted
// creates an empty index.
func TestDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "search")
	x, err := Open(dir, Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	apply(t, x, library())
	if err := x.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("read directory: %v, %v, want files", files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name()), []byte("not the content of an index"), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	if _, err = Open(dir, Options{}); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrOtherFormat) {
		t.Fatalf("Open = %v, want %v or %v", err, ErrDamaged, ErrOtherFormat)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	if x, err = Open(dir, Options{}); err != nil {
		t.Fatalf("Open: %v", err)
	}
	if x.Checkpoint() != nil || x.Stats().Documents != 0 {
		t.Error("the new index has a checkpoint or documents, want it empty")
	}
	if err := x.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
