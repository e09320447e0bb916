package index

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// model is a simple and slow implementation of an index.
type model struct {
	docs       []modelDoc // oldest first
	checkpoint string
}

// modelDoc is a document of a model.
type modelDoc struct {
	key       uint64
	group     uint8
	date      int32
	keywords  map[string]bool
	positions map[string][]uint32
	words     uint32
}

func (m *model) put(d modelDoc) {
	m.remove(d.key)
	m.docs = append(m.docs, d)
}

func (m *model) remove(key uint64) {
	m.docs = slices.DeleteFunc(m.docs, func(d modelDoc) bool { return d.key == key })
}

func (m *model) clone() *model { return &model{slices.Clone(m.docs), m.checkpoint} }

// modelScorer computes BM25. It uses the statistics of the index, which include deleted documents
// that have not been merged away.
type modelScorer struct {
	totals   collectionStats
	docFreqs map[string]int
}

func (m modelScorer) score(d *modelDoc, t string, weight float64) float64 {
	f := float64(len(d.positions[t]))
	if f == 0 {
		return 0
	}
	n, df := float64(m.totals.docs), float64(m.docFreqs[t])
	idf := math.Log(1 + (n-df+0.5)/(df+0.5))
	average := float64(m.totals.words) / n
	return weight * idf * f * 2.2 / (f + 1.2*(0.25+0.75*float64(d.words)/average))
}

func (d *modelDoc) has(t string) bool { return d.keywords[t] || len(d.positions[t]) > 0 }

// match reports whether a node matches the document, and returns its score.
func (d *modelDoc) match(n Node, w modelScorer) (bool, float64) {
	switch n := n.(type) {
	case nil:
		return true, 0
	case Term:
		if n.ConstantScore {
			return d.has(n.Text), n.Weight
		}
		return d.has(n.Text), w.score(d, n.Text, n.Weight)
	case Phrase:
		return d.phrase(n, w)
	case Together:
		return d.together(n), 0
	case All:
		sum := 0.0
		for _, part := range n {
			ok, s := d.match(part, w)
			if !ok {
				return false, 0
			}
			sum += s
		}
		return len(n) > 0, sum
	case Any:
		found, best := false, 0.0
		for _, part := range n {
			if ok, s := d.match(part, w); ok && (!found || s > best) {
				found, best = true, s
			}
		}
		return found, best
	case Prefer:
		ok, sum := d.match(n.Must, w)
		for _, part := range n.Should {
			if matched, s := d.match(part, w); matched {
				sum += s
			}
		}
		return ok, sum
	}
	panic(n)
}

// phrase reports whether a phrase matches the document, and returns its score.
func (d *modelDoc) phrase(n Phrase, w modelScorer) (bool, float64) {
	if len(n.Terms) == 0 {
		return false, 0
	}
	sum := 0.0
	for _, t := range n.Terms {
		sum += w.score(d, t, n.Weight)
	}
	for _, start := range d.positions[n.Terms[0]] {
		ok := true
		for i, t := range n.Terms {
			ok = ok && slices.Contains(d.positions[t], start+uint32(i))
		}
		if ok {
			return true, sum
		}
	}
	return false, 0
}

// together reports whether the document contains all terms, at the same position if there are several.
func (d *modelDoc) together(n Together) bool {
	if len(slices.Compact(slices.Sorted(slices.Values(n)))) == 1 {
		return d.has(n[0])
	}
	return len(n) > 0 && slices.ContainsFunc(d.positions[n[0]], func(at uint32) bool {
		return !slices.ContainsFunc(n, func(t string) bool { return !slices.Contains(d.positions[t], at) })
	})
}

// search evaluates a query, ignoring its limit.
func (m *model) search(q Query, w modelScorer) Result {
	var a Result
	for i := len(m.docs) - 1; i >= 0; i-- {
		d := &m.docs[i]
		ok, score := d.match(q.Node, w)
		for _, t := range q.Filters {
			ok = ok && d.has(t)
		}
		if q.HasDateRange {
			ok = ok && d.date != NoDate && d.date >= q.From && d.date <= q.To
		}
		if !ok {
			continue
		}
		a.Counts[d.group]++
		if q.Groups == 0 || q.Groups>>d.group&1 == 1 {
			a.Hits = append(a.Hits, Hit{d.key, d.group, score})
		}
	}
	slices.SortStableFunc(a.Hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Group, b.Group))
	})
	return a
}

// generator generates random documents and queries.
type generator struct{ *rand.Rand }

const generatorWords = 12

func (g generator) word() string {
	// Low numbers are frequent and high numbers are rare.
	n := min(g.IntN(generatorWords), g.IntN(generatorWords))
	return fmt.Sprintf("w%02d", n)
}

func (g generator) keyword() string { return fmt.Sprintf("f%02d", min(g.IntN(30), g.IntN(30))) }

func (g generator) doc(keys int) modelDoc {
	d := modelDoc{
		key: uint64(g.IntN(keys)), group: uint8(g.IntN(NumGroups)), date: int32(g.IntN(20)),
		keywords: map[string]bool{}, positions: map[string][]uint32{},
	}
	if g.IntN(8) == 0 {
		d.date = NoDate
	}
	for range g.IntN(6) {
		d.keywords[g.keyword()] = true
	}
	if g.IntN(10) == 0 {
		d.keywords[g.word()] = true // the document has this word without positions
	}
	words := g.IntN(25)
	if g.IntN(100) == 0 {
		words = g.IntN(1000)
	}
	for position := uint32(0); int(d.words) < words; d.words++ {
		t := g.word()
		d.positions[t] = append(d.positions[t], position)
		if g.IntN(8) > 0 { // otherwise, the next word has the same position
			position++
		}
	}
	return d
}

func (d *modelDoc) addTo(b *Batch) {
	b.StartDocument(d.key, d.group, d.date)
	for t := range d.keywords {
		b.AddTerm([]byte(t))
	}
	for t, positions := range d.positions {
		for _, p := range positions {
			b.AddWord([]byte(t), p)
		}
	}
}

func (g generator) node(depth int) Node {
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	switch g.IntN(kinds) {
	case 0:
		return Term{Text: g.keyword(), Weight: float64(g.IntN(3)), ConstantScore: true}
	case 1:
		return Term{Text: g.word(), Weight: 1 + g.Float64(), ConstantScore: g.IntN(4) == 0}
	case 2:
		p := Phrase{Weight: 1}
		for range 1 + g.IntN(3) {
			p.Terms = append(p.Terms, g.word())
		}
		if g.IntN(3) == 0 {
			return Together(p.Terms)
		}
		return p
	case 3:
		if g.IntN(2) == 0 {
			return All(g.nodes(depth - 1))
		}
		return Any(g.nodes(depth - 1))
	}
	return Prefer{Must: g.node(depth - 1), Should: g.nodes(depth - 1)}
}

func (g generator) nodes(depth int) []Node {
	var list []Node
	for range g.IntN(4) {
		list = append(list, g.node(depth))
	}
	return list
}

func (g generator) query() Query {
	q := Query{Node: g.node(2), Limit: g.IntN(30)}
	if g.IntN(20) == 0 {
		q.Node = nil
	}
	if g.IntN(3) == 0 {
		q.Groups = uint8(g.IntN(256))
	}
	for range max(0, g.IntN(5)-2) {
		q.Filters = append(q.Filters, g.keyword())
	}
	if g.IntN(3) == 0 {
		q.HasDateRange, q.From = true, int32(g.IntN(15))
		q.To = q.From + int32(g.IntN(10))
	}
	return q
}

// newModelScorer reads the statistics of a snapshot.
func newModelScorer(t *testing.T, s *snapshot) modelScorer {
	t.Helper()
	w := modelScorer{docFreqs: make(map[string]int)}
	var all []string
	for i := range generatorWords {
		all = append(all, fmt.Sprintf("w%02d", i))
	}
	var err error
	if w.docFreqs, err = s.docFreqs(t.Context(), all); err != nil {
		t.Fatalf("docFreqs: %v", err)
	}
	for _, v := range s.views {
		w.totals.docs += int(v.segment.Docs)
		w.totals.words += v.segment.Words()
	}
	return w
}

// compareSearch runs a query on the index and on the model and compares the results.
func compareSearch(t *testing.T, x *Index, m *model, q Query) {
	t.Helper()
	s, err := x.acquire() // a merge would change the scores
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	defer s.release()
	got, err := search(t.Context(), q, s, x.options.MaxNodes)
	if err != nil {
		t.Fatalf("search(%+v): %v, want no error", q, err)
	}
	want := m.search(q, newModelScorer(t, s))
	if got.Counts != want.Counts {
		t.Fatalf("search(%+v): counts %v, want %v", q, got.Counts, want.Counts)
	}
	if diff := diffHits(got.Hits, want.Hits, q.Limit); diff != "" {
		t.Fatalf("search(%+v) differs at %s\n got %v\nwant %v", q, diff, got.Hits, want.Hits[:min(len(want.Hits), q.Limit)])
	}
	q.SkipCounts = true
	uncounted, err := search(t.Context(), q, s, x.options.MaxNodes)
	if err != nil || !slices.Equal(uncounted.Hits, got.Hits) {
		t.Fatalf("search(%+v) = %v, %v; want the hits %v", q, uncounted.Hits, err, got.Hits)
	}
}

// diffHits compares hits with the sorted list of all matches. It returns a description of the first
// difference. Hits whose scores differ only by rounding may be in any order.
func diffHits(got, all []Hit, limit int) string {
	const rounding = 1e-9
	if len(got) != min(limit, len(all)) {
		return fmt.Sprintf("%d hits of %d", len(got), min(limit, len(all)))
	}
	for i, h := range got {
		if math.Abs(h.Score-all[i].Score) > rounding {
			return fmt.Sprintf("hit %d", i)
		}
		found := false
		for _, w := range all {
			found = found || w.Key == h.Key && w.Group == h.Group && math.Abs(w.Score-h.Score) <= rounding
		}
		exact := h.Score == math.Trunc(h.Score) // constant scores are exact, so the order must match
		if !found || exact && h.Key != all[i].Key {
			return fmt.Sprintf("hit %d", i)
		}
	}
	return ""
}

func TestAgainstModel(t *testing.T) {
	for seed := range uint64(9) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runModel(t, seed) })
	}
}

func openModel(t *testing.T, dir string, manualMerges bool) *Index {
	t.Helper()
	x, err := open(dir, Options{Cache: 1}, noSyncDisk{})
	if err != nil {
		t.Fatalf("open index: %v", err)
	}
	if !manualMerges {
		x.startMerging()
	}
	return x
}

func runModel(t *testing.T, seed uint64) {
	r := generator{rand.New(rand.NewPCG(seed, 1))}
	dir := t.TempDir()
	manualMerges := seed%2 == 0 // otherwise, merges run in the background
	x := openModel(t, dir, manualMerges)
	defer func() { _ = x.Close() }()
	m := &model{}
	keys := []int{40, 300, 1600}[seed%3]
	for step := range 14 {
		if manualMerges {
			mergeSome(t, x, r)
		}
		b := x.NewBatch()
		for range r.IntN(keys / 4) {
			if r.IntN(6) == 0 {
				key := uint64(r.IntN(keys))
				b.Remove(key)
				m.remove(key)
				continue
			}
			d := r.doc(keys)
			d.addTo(b)
			m.put(d)
		}
		m.checkpoint = fmt.Sprintf("mark %d", step)
		if err := x.Apply(t.Context(), b, []byte(m.checkpoint)); err != nil {
			t.Fatalf("Apply: %v", err)
		}
		if r.IntN(4) == 0 {
			if err := x.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			x = openModel(t, dir, manualMerges)
		}
		verify(t, x, m, r, 20)
	}
}

// mergeSome merges random adjacent segments.
func mergeSome(t *testing.T, x *Index, r generator) {
	t.Helper()
	s, err := x.acquire()
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	defer s.release()
	if len(s.views) == 0 || r.IntN(3) > 0 {
		return
	}
	from := r.IntN(len(s.views))
	to := from + 1 + r.IntN(len(s.views)-from)
	if err := x.merge(t.Context(), s.views[from:to]); err != nil {
		t.Fatalf("merge: %v", err)
	}
}

// verify compares the results of random queries and the metadata of the index with the model.
func verify(t *testing.T, x *Index, m *model, r generator, queries int) {
	t.Helper()
	if got := string(x.Checkpoint()); got != m.checkpoint {
		t.Fatalf("Checkpoint() = %q, want %q", got, m.checkpoint)
	}
	if got := x.Stats().Documents; got != len(m.docs) {
		t.Fatalf("Stats().Documents = %d, want %d", got, len(m.docs))
	}
	for range queries {
		compareSearch(t, x, m, r.query())
	}
}
