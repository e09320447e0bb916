package index

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// model is an index that does everything the slow and obvious way.
type model struct {
	docs []modelDoc // in the order in which they came
	mark string
}

type modelDoc struct {
	key    uint64
	group  uint8
	date   int32
	flat   map[string]bool
	places map[string][]uint32
	words  uint32
}

func (m *model) put(d modelDoc) {
	m.remove(d.key)
	m.docs = append(m.docs, d)
}

func (m *model) remove(key uint64) {
	m.docs = slices.DeleteFunc(m.docs, func(d modelDoc) bool { return d.key == key })
}

func (m *model) clone() *model { return &model{slices.Clone(m.docs), m.mark} }

// weigher tells what a word is worth; statistics are the index's own, for they count
// what is gone until it is merged away.
type weigher struct {
	totals collectionStats
	counts map[string]int
}

func (w weigher) score(d *modelDoc, t string, weight float64) float64 {
	f := float64(len(d.places[t]))
	if f == 0 {
		return 0
	}
	n, df := float64(w.totals.docs), float64(w.counts[t])
	idf := math.Log(1 + (n-df+0.5)/(df+0.5))
	average := float64(w.totals.words) / n
	return weight * idf * f * 2.2 / (f + 1.2*(0.25+0.75*float64(d.words)/average))
}

func (d *modelDoc) has(t string) bool { return d.flat[t] || len(d.places[t]) > 0 }

func (d *modelDoc) match(n Node, w weigher) (bool, float64) {
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
			if also, s := d.match(part, w); also {
				sum += s
			}
		}
		return ok, sum
	}
	panic(n)
}

func (d *modelDoc) phrase(n Phrase, w weigher) (bool, float64) {
	if len(n.Terms) == 0 {
		return false, 0
	}
	sum := 0.0
	for _, t := range n.Terms {
		sum += w.score(d, t, n.Weight)
	}
	for _, start := range d.places[n.Terms[0]] {
		ok := true
		for i, t := range n.Terms {
			ok = ok && slices.Contains(d.places[t], start+uint32(i))
		}
		if ok {
			return true, sum
		}
	}
	return false, 0
}

// search is Index.Search, of which Limit counts for nothing.
func (m *model) search(q Query, w weigher) Result {
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

// scene makes documents and questions out of chance.
type scene struct{ *rand.Rand }

const sceneWords = 12

func (r scene) word() string {
	// The first are common, the last are rare.
	n := min(r.IntN(sceneWords), r.IntN(sceneWords))
	return fmt.Sprintf("w%02d", n)
}

func (r scene) flat() string { return fmt.Sprintf("f%02d", min(r.IntN(30), r.IntN(30))) }

func (r scene) doc(keys int) modelDoc {
	d := modelDoc{
		key: uint64(r.IntN(keys)), group: uint8(r.IntN(NumGroups)), date: int32(r.IntN(20)),
		flat: map[string]bool{}, places: map[string][]uint32{},
	}
	if r.IntN(8) == 0 {
		d.date = NoDate
	}
	for range r.IntN(6) {
		d.flat[r.flat()] = true
	}
	if r.IntN(10) == 0 {
		d.flat[r.word()] = true // a word that is flat here
	}
	words := r.IntN(25)
	if r.IntN(100) == 0 {
		words = r.IntN(1000)
	}
	for range words {
		t := r.word()
		d.places[t] = append(d.places[t], d.words)
		d.words++
	}
	return d
}

func (d *modelDoc) into(b *Batch) {
	b.StartDocument(d.key, d.group, d.date)
	for t := range d.flat {
		b.AddTerm([]byte(t))
	}
	for t, places := range d.places {
		for _, p := range places {
			b.AddWord([]byte(t), p)
		}
	}
}

func (r scene) node(depth int) Node {
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	switch r.IntN(kinds) {
	case 0:
		return Term{Text: r.flat(), Weight: float64(r.IntN(3)), ConstantScore: true}
	case 1:
		return Term{Text: r.word(), Weight: 1 + r.Float64(), ConstantScore: r.IntN(4) == 0}
	case 2:
		p := Phrase{Weight: 1}
		for range 1 + r.IntN(3) {
			p.Terms = append(p.Terms, r.word())
		}
		return p
	case 3:
		if r.IntN(2) == 0 {
			return All(r.nodes(depth - 1))
		}
		return Any(r.nodes(depth - 1))
	}
	return Prefer{Must: r.node(depth - 1), Should: r.nodes(depth - 1)}
}

func (r scene) nodes(depth int) []Node {
	var list []Node
	for range r.IntN(4) {
		list = append(list, r.node(depth))
	}
	return list
}

func (r scene) query() Query {
	q := Query{Node: r.node(2), Limit: r.IntN(30)}
	if r.IntN(20) == 0 {
		q.Node = nil
	}
	if r.IntN(3) == 0 {
		q.Groups = uint8(r.IntN(256))
	}
	for range max(0, r.IntN(5)-2) {
		q.Filters = append(q.Filters, r.flat())
	}
	if r.IntN(3) == 0 {
		q.HasDateRange, q.From = true, int32(r.IntN(15))
		q.To = q.From + int32(r.IntN(10))
	}
	return q
}

// weigh takes the statistics out of the index.
func weigh(t *testing.T, s *snapshot) weigher {
	t.Helper()
	w := weigher{counts: make(map[string]int)}
	var all []string
	for i := range sceneWords {
		all = append(all, fmt.Sprintf("w%02d", i))
	}
	var err error
	if w.counts, err = s.docFreqs(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for _, v := range s.views {
		w.totals.docs += int(v.segment.Docs)
		w.totals.words += v.segment.Words()
	}
	return w
}

// compare asks both and holds the answers against each other.
func compare(t *testing.T, x *Index, m *model, q Query) {
	t.Helper()
	s, err := x.acquire() // a merge in between would change what a word is worth
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	got, err := search(t.Context(), q, s, x.options.MaxNodes)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	want := m.search(q, weigh(t, s))
	if got.Counts != want.Counts {
		t.Fatalf("%+v: counts %v, want %v", q, got.Counts, want.Counts)
	}
	if why := differ(got.Hits, want.Hits, q.Limit); why != "" {
		t.Fatalf("%+v: %s\n got %v\nwant %v", q, why, got.Hits, want.Hits[:min(len(want.Hits), q.Limit)])
	}
}

// differ holds hits against all that there are, in order. What is worth the same but
// for rounding may stand in either order.
func differ(got, all []Hit, limit int) string {
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
		exact := h.Score == math.Trunc(h.Score) // flat terms: nothing is rounded, the order counts
		if !found || exact && h.Key != all[i].Key {
			return fmt.Sprintf("hit %d", i)
		}
	}
	return ""
}

func TestModel(t *testing.T) {
	for seed := range uint64(9) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playModel(t, seed) })
	}
}

func openModel(t *testing.T, dir string, byHand bool) *Index {
	t.Helper()
	x, err := open(dir, Options{Cache: 1}, unsynced{})
	if err != nil {
		t.Fatal(err)
	}
	if !byHand {
		x.merger.start(x)
	}
	return x
}

func playModel(t *testing.T, seed uint64) {
	r := scene{rand.New(rand.NewPCG(seed, 1))}
	dir := t.TempDir()
	byHand := seed%2 == 0 // else the merges come when they come
	x := openModel(t, dir, byHand)
	defer func() { _ = x.Close() }()
	m := &model{}
	keys := []int{40, 300, 1600}[seed%3]
	for step := range 14 {
		if byHand {
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
			d.into(b)
			m.put(d)
		}
		m.mark = fmt.Sprintf("mark %d", step)
		if err := x.Apply(t.Context(), b, []byte(m.mark)); err != nil {
			t.Fatal(err)
		}
		if r.IntN(4) == 0 {
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			x = openModel(t, dir, byHand)
		}
		verify(t, x, m, r, 20)
	}
}

// mergeSome merges neighbors by chance.
func mergeSome(t *testing.T, x *Index, r scene) {
	t.Helper()
	s, err := x.acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	if len(s.views) == 0 || r.IntN(3) > 0 {
		return
	}
	from := r.IntN(len(s.views))
	to := from + 1 + r.IntN(len(s.views)-from)
	if err := x.merge(t.Context(), s.views[from:to]); err != nil {
		t.Fatal(err)
	}
}

// verify asks questions, and looks at all that an index tells about itself.
func verify(t *testing.T, x *Index, m *model, r scene, questions int) {
	t.Helper()
	if got := string(x.Checkpoint()); got != m.mark {
		t.Fatalf("mark %q, want %q", got, m.mark)
	}
	if got := x.Stats().Documents; got != len(m.docs) {
		t.Fatalf("%d documents, want %d", got, len(m.docs))
	}
	for range questions {
		compare(t, x, m, r.query())
	}
}
