package query

import (
	"fmt"
	"strings"
	"testing"
)

// putText puts a text of pages, and gives what stands in the way of its end.
func putText(t testing.TB, b *Batch, id uint64, pages int, page func(n int) string) (words uint32, cut bool) {
	t.Helper()
	err := b.Put(Document{Kind: File, ID: id, Text: func(give func(string) error) error {
		for n := range pages {
			if err := give(page(n)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b.text.position, b.truncated
}

// Millions of equal words cost what some of them do; as many words of a language are
// all in the index.
func TestATextThatRepeatsItselfIsCutShort(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	equal := strings.Repeat("aa ", 300_000)
	if words, cut := putText(t, b, 1, 12, func(int) string { return equal }); !cut || words > repetitionCheckFrom+300_000+12*positionGap {
		t.Errorf("%d equal words are read", words)
	}
	var line strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&line, "grantor%s of the parish sells lot %d ", strings.Repeat("x", n%7), n)
	}
	page := strings.Repeat(line.String(), 10)
	if words, cut := putText(t, b, 2, 7, func(int) string { return page }); cut || words < 5*repetitionCheckFrom/4 {
		t.Errorf("%d words of a language are read, cut %v", words, cut)
	}
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]uint64{"aa": 1, "lot 2999": 2} {
		if a, err := x.Search(t.Context(), Query{Text: text, Limit: 9}); err != nil || len(a.Hits) != 1 || a.Hits[0].ID != want {
			t.Errorf("%q finds %v, %v", text, a.Hits, err)
		}
	}
}

// A list of a quarter of a million different words is found to its end.
func TestALongListIsFoundToItsEnd(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	const pages, words = 11, 20_000
	if put, cut := putText(t, b, 1, pages, func(n int) string { return different(n*words, words) }); cut {
		t.Errorf("only %d different words are in the index", put)
	}
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(different((pages-1)*words, words))
	for _, text := range []string{all[len(all)-1], strings.Fields(different(0, 1))[0][:5]} {
		if a, err := x.Search(t.Context(), Query{Text: text, Limit: 9}); err != nil || len(a.Hits) != 1 {
			t.Errorf("%q finds %v, %v", text, a.Hits, err)
		}
	}
}

func BenchmarkEqualWords(b *testing.B) {
	x, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	page := strings.Repeat("aa ", 340_000)
	for b.Loop() {
		putText(b, x.NewBatch(), 1, 14, func(int) string { return page })
	}
}
