package query

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// different is a page of words each of which is another one.
func different(from, n int) string {
	var page strings.Builder
	for i := range n {
		var word [7]byte
		// A permutation, so that beginnings are different too.
		x := uint64(from+i) * 0x9E3779B97F4A7C15
		var raw [8]byte
		binary.BigEndian.PutUint64(raw[:], x)
		for at := range word {
			word[at] = 'a' + raw[at]%26
		}
		page.Write(word[:])
		page.WriteByte(' ')
	}
	return page.String()
}

// A text in which every word is another takes a bounded part of a batch; it is found by
// what stands at its beginning, and the log says so. A text of ordinary words is whole.
func TestATextOfDifferentWordsIsBounded(t *testing.T) {
	var log strings.Builder
	x, err := Open(t.TempDir(), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	b := x.NewBatch()
	const pages, words = 20, 20_000
	pageless := Document{Kind: File, ID: 7, Text: func(page func(string) error) error {
		if err := page("zebra crossing"); err != nil {
			return err
		}
		for n := range pages {
			if err := page(different(n*words, words)); err != nil {
				return err
			}
		}
		return page("giraffe")
	}}
	if err := b.Put(pageless); err != nil {
		t.Fatal(err)
	}
	if got := b.Bytes(); got < MaxDocumentMemory/2 || got > MaxDocumentMemory*3/2 {
		t.Errorf("%d bytes", got)
	}
	if !strings.Contains(log.String(), "id=7") {
		t.Errorf("the log says %q", log.String())
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
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("the log says %q", log.String())
	}
	if err := x.Apply(t.Context(), b, []byte("here")); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"zebra crossing": "[7]", "giraffe": "[8]"} {
		a, err := x.Search(t.Context(), Query{Text: text, Limit: 9})
		var ids []uint64
		for _, h := range a.Hits {
			ids = append(ids, h.ID)
		}
		if got := fmt.Sprint(ids); err != nil || got != want {
			t.Errorf("%q finds %s, %v", text, got, err)
		}
	}
}
