package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deedkeep/app/search/index/segment"
)

// oneSegment opens an index of one segment.
func oneSegment(t *testing.T, o Options, fill func(b *Batch)) (*Index, *openSegment) {
	t.Helper()
	x := openTest(t, o)
	b := x.NewBatch()
	fill(b)
	if err := x.Apply(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	return x, x.current.views[0].segment
}

// Terms of many blocks, whose counts arithmetic tells.
func TestManyBlocks(t *testing.T) {
	const docs = 40_000
	x, _ := oneSegment(t, Options{}, func(b *Batch) {
		for i := range uint64(docs) {
			b.StartDocument(i, uint8(i%2), int32(i/100))
			for _, n := range []uint64{1, 2, 3, 7, 1000, 4999} {
				if i%n == 0 {
					b.AddTerm(fmt.Appendf(nil, "by%d", n))
				}
			}
			b.AddWord([]byte("p"), uint32(i%5))
			for at := range uint32(i % 3) {
				b.AddWord([]byte("q"), 2+3*at)
			}
		}
	})
	by := func(n int) Node { return Term{Text: fmt.Sprintf("by%d", n), Weight: float64(n), ConstantScore: true} }
	rows := []struct {
		name string
		q    Query
		is   func(i int) bool
	}{
		{"every", Query{}, func(int) bool { return true }},
		{"one", Query{Node: by(3)}, func(i int) bool { return i%3 == 0 }},
		{"all", Query{Node: All{by(2), by(3), by(7)}}, func(i int) bool { return i%42 == 0 }},
		{"rare leads", Query{Node: by(1), Filters: []string{"by1000", "by3"}}, func(i int) bool { return i%3000 == 0 }},
		{"rarer leads", Query{Node: All{by(1), by(4999)}}, func(i int) bool { return i%4999 == 0 }},
		{"any", Query{Node: Any{by(7), by(4999), by(1000)}}, func(i int) bool { return i%7 == 0 || i%4999 == 0 || i%1000 == 0 }},
		{"all of any", Query{Node: All{Any{by(7), by(1000)}, Any{by(3), by(4999)}}},
			func(i int) bool { return (i%7 == 0 || i%1000 == 0) && (i%3 == 0 || i%4999 == 0) }},
		{"dated", Query{Node: by(3), HasDateRange: true, From: 100, To: 100}, func(i int) bool { return i%3 == 0 && i/100 == 100 }},
		{"phrase", Query{Node: Phrase{Terms: []string{"p", "q"}, Weight: 1}},
			func(i int) bool { return i%3 > 0 && i%5 == 1 || i%3 == 2 && i%5 == 4 }},
		{"phrase and rare", Query{Node: Phrase{Terms: []string{"p", "q"}, Weight: 1}, Filters: []string{"by1000"}},
			func(i int) bool { return i%1000 == 0 && (i%3 > 0 && i%5 == 1 || i%3 == 2 && i%5 == 4) }},
	}
	for _, row := range rows {
		var want [NumGroups]int
		for i := range docs {
			if row.is(i) {
				want[i%2]++
			}
		}
		row.q.Limit = 3
		a, err := x.Search(t.Context(), row.q)
		if err != nil || a.Counts != want || len(a.Hits) != min(3, want[0]+want[1]) {
			t.Errorf("%s: got %+v, want %v, %v", row.name, a, want, err)
		}
	}
}

func TestPick(t *testing.T) {
	const kb, mb = 1 << 10, 1 << 20
	eight := func(size int64) []int64 { return slices.Repeat([]int64{size}, 8) }
	ruler := slices.Repeat(append(eight(kb)[1:], 100*kb), 8)[:63]
	rows := []struct {
		name     string
		sizes    []int64
		from, to int
	}{
		{"none", nil, 0, 0},
		{"few", []int64{kb, kb, kb}, 0, 0},
		{"eight", eight(kb), 0, 8},
		{"eight behind a large one", append([]int64{mb}, eight(kb)...), 1, 9},
		{"small ones first", append(eight(mb), eight(kb)...), 8, 16},
		{"a large one between", []int64{kb, kb, kb, kb, mb, kb, kb, kb, kb, kb}, 0, 0},
		{"a small one between", []int64{mb, mb, mb, kb, mb, mb, mb, mb, mb, kb}, 0, 10},
		{"seven of every level", slices.Concat(eight(mb)[1:], eight(100 * kb)[1:], eight(kb)[1:]), 0, 0},
		{"very many", slices.Repeat([]int64{kb}, 50), 0, maxMergeWidth},
		{"eight apart", slices.Repeat([]int64{mb, kb}, 40), 0, maxMergeWidth},
		{"no eight, but too many", append(ruler, mb, kb), 0, mergeWidth},
	}
	for _, row := range rows {
		var views []view
		for _, size := range row.sizes {
			views = append(views, view{segment: &openSegment{Meta: segment.Meta{Size: size, Docs: 10}}})
		}
		if from, to := pickMerge(views); from != row.from || to != row.to {
			t.Errorf("%s: %d to %d, want %d to %d", row.name, from, to, row.from, row.to)
		}
	}
}

// A segment most of which is gone is written anew, and one that is all gone goes.
func TestGoneIsMergedAway(t *testing.T) {
	x, s := oneSegment(t, Options{}, func(b *Batch) {
		for i := range uint64(100) {
			b.StartDocument(i, 0, 0)
			b.AddTerm([]byte("t"))
		}
	})
	remove := func(from, to uint64) {
		b := x.NewBatch()
		for key := from; key < to; key++ {
			b.Remove(key)
		}
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatal(err)
		}
	}
	rows := []struct {
		from, to uint64
		done     bool
		want     Stats
	}{
		{0, 30, false, Stats{70, s.Size, 1}},
		{30, 60, true, Stats{40, 0, 1}},
		{60, 100, true, Stats{0, 0, 0}},
	}
	for _, row := range rows {
		remove(row.from, row.to)
		done, err := x.mergeOnce(t.Context())
		if err != nil || done != row.done {
			t.Fatalf("%+v: merged %v, %v", row, done, err)
		}
		got := x.Stats()
		if row.want.Bytes == 0 {
			got.Bytes = 0
		}
		if got != row.want {
			t.Errorf("%+v: got %+v", row, got)
		}
	}
	if names, err := filepath.Glob(filepath.Join(x.dir, "*.segment")); err != nil || len(names) != 0 {
		t.Errorf("%v is there, %v", names, err)
	}
}

// What lies in the folder and is not ours stays, and is no index.
func TestOpenBesideOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".DS_Store", manifestNew} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		x, err := open(dir, Options{}, unsynced{})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".DS_Store")); err != nil {
		t.Error(err)
	}
}
