package query

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// distinctWords returns a page of n words. Pages for disjoint ranges from..from+n have no words in
// common.
func distinctWords(from, n int) string {
	var page strings.Builder
	for i := range n {
		var word [7]byte
		// Multiplying by an odd number is a permutation, so the prefixes differ too.
		x := uint64(from+i) * 0x9E3779B97F4A7C15
		var raw [8]byte
		binary.BigEndian.PutUint64(raw[:], x)
		for i := range word {
			word[i] = 'a' + raw[i]%26
		}
		page.Write(word[:])
		page.WriteByte(' ')
	}
	return page.String()
}

// The memory for a text of distinct words is limited. The start of the text is indexed, and the
// truncation is logged. A text of ordinary words is indexed completely.
func TestTextOfDistinctWordsIsLimited(t *testing.T) {
	var log strings.Builder
	x, err := Open(t.TempDir(), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	const pages, words = 20, 20_000
	distinct := Document{Kind: File, ID: 7, Text: func(page func(string) error) error {
		if err := page("zebra crossing"); err != nil {
			return err
		}
		for n := range pages {
			if err := page(distinctWords(n*words, words)); err != nil {
				return err
			}
		}
		return page("giraffe")
	}}
	if err := b.Put(distinct); err != nil {
		t.Fatalf("Put: %v", err)
	}
	if got := b.Bytes(); got < MaxDocumentMemory/2 || got > MaxDocumentMemory*3/2 {
		t.Errorf("Bytes() = %d, want about %d", got, MaxDocumentMemory)
	}
	if !strings.Contains(log.String(), "id=7") {
		t.Errorf("log = %q, want a warning for document 7", log.String())
	}
	log.Reset()
	ordinary := Document{Kind: File, ID: 8, Text: func(page func(string) error) error {
		for range 100 {
			if err := page(strings.Repeat("one of the words of a deed ", 200)); err != nil {
				return err
			}
		}
		return page("giraffe")
	}}
	if err := b.Put(ordinary); err != nil {
		t.Fatalf("Put: %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("log = %q, want it empty", log.String())
	}
	if err := x.Apply(t.Context(), b, []byte("here")); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	for text, want := range map[string]string{"zebra crossing": "[7]", "giraffe": "[8]"} {
		t.Run(text, func(t *testing.T) {
			a, err := x.Search(t.Context(), Query{Text: text, Limit: 9})
			var ids []uint64
			for _, h := range a.Hits {
				ids = append(ids, h.ID)
			}
			if got := fmt.Sprint(ids); err != nil || got != want {
				t.Errorf("Search(%q) = %s, %v, want %s", text, got, err, want)
			}
		})
	}
}

// putText adds a text to the batch. It returns the number of words indexed and whether the text was
// truncated.
func putText(t testing.TB, b *Batch, id uint64, pages int, page func(n int) string) (words uint32, truncated bool) {
	t.Helper()
	err := b.Put(Document{Kind: File, ID: id, Text: func(addPage func(string) error) error {
		for n := range pages {
			if err := addPage(page(n)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	return b.text.position, b.truncated
}

// A text that repeats one word is truncated early. A natural-language text of the same length is
// indexed completely.
func TestRepetitiveTextIsTruncated(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	repeated := strings.Repeat("aa ", 300_000)
	limit := uint32(repetitionCheckFrom + 300_000 + 12*positionGap)
	if words, truncated := putText(t, b, 1, 12, func(int) string { return repeated }); !truncated || words > limit {
		t.Errorf("%d repeated words were indexed, want at most %d", words, limit)
	}
	var line strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&line, "grantor%s of the parish sells lot %d ", strings.Repeat("x", n%7), n)
	}
	page := strings.Repeat(line.String(), 10)
	if words, truncated := putText(t, b, 2, 7, func(int) string { return page }); truncated || words < 5*repetitionCheckFrom/4 {
		t.Errorf("%d words of natural language were indexed (truncated: %v), want all", words, truncated)
	}
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	for text, want := range map[string]uint64{"aa": 1, "lot 2999": 2} {
		t.Run(text, func(t *testing.T) {
			if a, err := x.Search(t.Context(), Query{Text: text, Limit: 9}); err != nil || len(a.Hits) != 1 || a.Hits[0].ID != want {
				t.Errorf("Search(%q) = %v, %v, want document %d", text, a.Hits, err, want)
			}
		})
	}
}

// A list of a quarter of a million distinct words is indexed completely.
func TestLongListIsIndexedCompletely(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	const pages, words = 11, 20_000
	if put, truncated := putText(t, b, 1, pages, func(n int) string { return distinctWords(n*words, words) }); truncated {
		t.Errorf("indexed words = %d, want %d", put, pages*words)
	}
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	all := strings.Fields(distinctWords((pages-1)*words, words))
	for _, text := range []string{all[len(all)-1], strings.Fields(distinctWords(0, 1))[0][:5]} {
		if a, err := x.Search(t.Context(), Query{Text: text, Limit: 9}); err != nil || len(a.Hits) != 1 {
			t.Errorf("Search(%q) = %v, %v, want one hit", text, a.Hits, err)
		}
	}
}

func BenchmarkRepetitiveText(b *testing.B) {
	x, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatalf("Open: %v", err)
	}
	defer func() { _ = x.Close() }()
	page := strings.Repeat("aa ", 340_000)
	for b.Loop() {
		putText(b, x.NewBatch(), 1, 14, func(int) string { return page })
	}
}

// BenchmarkPut measures adding documents of about 1,000 words to a batch, without Apply.
func BenchmarkPut(b *testing.B) {
	x := newTestIndex(b, nil)
	text := strings.Repeat(deedText, 11)
	d := Document{
		Kind: File, County: "Wexcombe", State: "VA", Names: []string{"02_Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf"},
		Text: pages(text),
	}
	b.SetBytes(int64(len(text)))
	batch := x.NewBatch()
	for b.Loop() {
		if d.ID++; d.ID%1000 == 0 {
			batch = x.NewBatch()
		}
		if err := batch.Put(d); err != nil {
			b.Fatalf("Put: %v", err)
		}
	}
}
