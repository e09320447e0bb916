package index

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"deedkeep/app/search/index/segment"
)

func TestPickMerge(t *testing.T) {
	const kb, mb = 1 << 10, 1 << 20
	eight := func(size int64) []int64 { return slices.Repeat([]int64{size}, 8) }
	ruler := slices.Repeat(append(eight(kb)[1:], 100*kb), 8)[:63]
	rows := []struct {
		name     string
		sizes    []int64
		from, to int
	}{
		{"no segments", nil, 0, 0},
		{"few", []int64{kb, kb, kb}, 0, 0},
		{"eight", eight(kb), 0, 8},
		{"eight after a large one", append([]int64{mb}, eight(kb)...), 1, 9},
		{"eight small after eight large ones", append(eight(mb), eight(kb)...), 8, 16},
		{"large one between small ones", []int64{kb, kb, kb, kb, mb, kb, kb, kb, kb, kb}, 0, 0},
		{"small one between large ones", []int64{mb, mb, mb, kb, mb, mb, mb, mb, mb, kb}, 0, 10},
		{"seven of every level", slices.Concat(eight(mb)[1:], eight(100 * kb)[1:], eight(kb)[1:]), 0, 0},
		{"more than the maximum width", slices.Repeat([]int64{kb}, 50), 0, maxMergeWidth},
		{"eight with small ones between", slices.Repeat([]int64{mb, kb}, 40), 0, maxMergeWidth},
		{"too many, but not eight of any level", append(ruler, mb, kb), 0, mergeWidth},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var views []view
			for _, size := range row.sizes {
				views = append(views, view{segment: &openSegment{Meta: segment.Meta{Size: size, Docs: 10}}})
			}
			if from, to := pickMerge(views); from != row.from || to != row.to {
				t.Errorf("pickMerge = %d, %d, want %d, %d", from, to, row.from, row.to)
			}
		})
	}
}

// A segment with many deleted documents is rewritten, and a segment without live documents is
// removed.
func TestMergeDropsDeletedDocuments(t *testing.T) {
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
			t.Fatalf("Apply: %v", err)
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
			t.Fatalf("mergeOnce after removing %d to %d = %v, %v, want %v", row.from, row.to, done, err, row.done)
		}
		got := x.Stats()
		if row.want.Bytes == 0 {
			got.Bytes = 0
		}
		if got != row.want {
			t.Errorf("Stats() after removing %d to %d = %+v, want %+v", row.from, row.to, got, row.want)
		}
	}
	if names, err := filepath.Glob(filepath.Join(x.dir, "*.segment")); err != nil || len(names) != 0 {
		t.Errorf("segment files = %v, %v, want none", names, err)
	}
}

// A running search still finds the documents of a segment that is replaced. The segment is closed
// when the search ends.
func TestMergeKeepsSearchedSegments(t *testing.T) {
	x := openTest(t, Options{})
	for key := range uint64(3) {
		b := x.NewBatch()
		b.StartDocument(key, 0, NoDate)
		b.AddTerm([]byte("term"))
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatalf("Apply: %v", err)
		}
	}
	s, err := x.acquire()
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	old := s.views[0].segment
	if err := x.merge(t.Context(), s.views); err != nil {
		t.Fatalf("merge: %v", err)
	}
	if got := x.Stats().Segments; got != 1 {
		t.Errorf("got %d segments, want 1", got)
	}
	a, err := search(t.Context(), Query{Node: Term{Text: "term", ConstantScore: true}, Limit: 9}, s, 10)
	if err != nil || a.Counts[0] != 3 {
		t.Errorf("search in the old snapshot = %+v, %v, want 3 documents", a, err)
	}
	s.release()
	if err := old.Check(t.Context()); err == nil {
		t.Error("Check of the replaced segment after the last search = nil, want an error")
	}
}

// If there are too many segments, Apply waits for a merge.
func TestApplyWaitsForMerge(t *testing.T) {
	x := openTest(t, Options{})
	apply := func(key uint64) {
		b := x.NewBatch()
		b.StartDocument(key, 0, 0)
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatalf("Apply: %v", err)
		}
	}
	for key := range uint64(backlogLimit + 1) {
		apply(key)
	}
	x.startMerging()
	apply(1000)
	if s := x.Stats(); s.Segments > backlogLimit || s.Documents != backlogLimit+2 {
		t.Errorf("Stats() = %+v, want %d documents in at most %d segments", s, backlogLimit+2, backlogLimit)
	}
}

// Each merge calls AllowMerge with the total size of its sources. If the merge is not allowed, that
// is logged once, and the merge is retried after the next Apply.
func TestMergeAsksForDiskSpace(t *testing.T) {
	var log bytes.Buffer
	var requested []int64
	allowed := false
	x := openTest(t, Options{
		Log:        slog.New(slog.NewTextHandler(&log, nil)),
		AllowMerge: func(bytes int64) bool { requested = append(requested, bytes); return allowed },
	})
	for key := range uint64(mergeWidth) {
		b := x.NewBatch()
		addRepetitive(b, key, 9)
		if err := x.Apply(t.Context(), b, nil); err != nil {
			t.Fatalf("Apply: %v", err)
		}
	}
	size := x.Stats().Bytes
	for range 2 {
		if done, err := x.mergeOnce(t.Context()); done || err != nil {
			t.Fatalf("mergeOnce without disk space = %v, %v, want false", done, err)
		}
	}
	if n := bytes.Count(log.Bytes(), []byte("not enough free space")); n != 1 {
		t.Errorf("got %d warnings, want 1: %s", n, &log)
	}
	allowed = true
	if done, err := x.mergeOnce(t.Context()); !done || err != nil {
		t.Errorf("mergeOnce = %v, %v, want true", done, err)
	}
	if got := x.Stats().Segments; got != 1 || !slices.Equal(requested, []int64{size, size, size}) {
		t.Errorf("got %d segments and requests for %v bytes, want 1 segment and 3 requests for %d", got, requested, size)
	}
}
