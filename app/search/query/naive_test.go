package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/search/index"
)

// naiveEngine evaluates a query against every document, as simply as possible.
type naiveEngine struct {
	docs     []*naiveDoc
	last     *naiveDoc
	t        testing.TB
	maxNodes int // maximum number of nodes in a query
	known    int // number of terms looked up
}

type naiveDoc struct {
	key   uint64
	group uint8
	date  int32
	at    map[string][]uint32 // by term; nil if it has no positions
}

func (n *naiveEngine) StartDocument(key uint64, group uint8, date int32) {
	n.Remove(key)
	n.last = &naiveDoc{key: key, group: group, date: date, at: make(map[string][]uint32)}
	n.docs = append(n.docs, n.last)
}

func (n *naiveEngine) AddTerm(term []byte) {
	n.fits(term)
	n.last.at[string(term)] = nil
}

func (n *naiveEngine) AddWord(term []byte, position uint32) (first bool) {
	n.fits(term)
	at := n.last.at[string(term)]
	if len(at) > 0 && at[len(at)-1] >= position {
		n.t.Errorf("position of %q = %d after %d, want ascending positions", term, position, at[len(at)-1])
	}
	n.last.at[string(term)] = append(at, position)
	return len(at) == 0
}

func (n *naiveEngine) fits(term []byte) {
	if len(term) < 2 || len(term) > index.MaxTermBytes {
		n.t.Errorf("term %q has %d bytes, want 2 to %d", term, len(term), index.MaxTermBytes)
	}
}

func (n *naiveEngine) Remove(key uint64) {
	n.docs = slices.DeleteFunc(n.docs, func(d *naiveDoc) bool { return d.key == key })
}

func (n *naiveEngine) Bytes() int { return 0 }

func (n *naiveEngine) DocFreqs(_ context.Context, terms []string) (map[string]int, error) {
	if !slices.IsSorted(terms) {
		n.t.Errorf("DocFreqs(%q): terms are not sorted", terms)
	}
	n.known += len(terms)
	known := make(map[string]int)
	for _, t := range terms {
		if c := n.count(t); c > 0 {
			known[t] = c
		}
	}
	return known, nil
}

func (n *naiveEngine) count(term string) (c int) {
	for _, d := range n.docs {
		if _, has := d.at[term]; has {
			c++
		}
	}
	return c
}

func (n *naiveEngine) Terms(_ context.Context, prefix string, limit int) ([]string, error) {
	if limit > maxExpansion {
		n.t.Errorf("Terms(%q, %d): limit exceeds %d", prefix, limit, maxExpansion)
	}
	var found []string
	for _, d := range n.docs {
		for t := range d.at {
			if strings.HasPrefix(t, prefix) {
				found = append(found, t)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(limit, len(found))], nil
}

func (n *naiveEngine) Search(_ context.Context, q index.Query) (index.Result, error) {
	n.maxNodes = max(n.maxNodes, countNodes(q.Node))
	var a index.Result
	for _, d := range slices.Backward(n.docs) {
		score, holds := n.score(d, q.Node)
		for _, t := range q.Filters {
			_, has := d.at[t]
			holds = holds && has
		}
		if !holds || q.HasDateRange && (d.date < q.From || d.date > q.To) {
			continue
		}
		a.Counts[d.group]++
		if q.Groups == 0 || q.Groups&(1<<d.group) != 0 {
			a.Hits = append(a.Hits, index.Hit{Key: d.key, Group: d.group, Score: score})
		}
	}
	slices.SortStableFunc(a.Hits, func(g, h index.Hit) int {
		return cmp.Or(cmp.Compare(h.Score, g.Score), cmp.Compare(g.Group, h.Group))
	})
	a.Hits = a.Hits[:min(len(a.Hits), q.Limit)]
	return a, nil
}

func (n *naiveEngine) score(d *naiveDoc, node index.Node) (score float64, holds bool) {
	switch node := node.(type) {
	case index.Term:
		at, has := d.at[node.Text]
		if !has || node.ConstantScore {
			return node.Weight, has
		}
		return node.Weight * n.bm25(node.Text, len(at)), true
	case index.All:
		for _, m := range node {
			s, has := n.score(d, m)
			if !has {
				return 0, false
			}
			score += s
		}
		return score, true
	case index.Any:
		for _, m := range node {
			if s, has := n.score(d, m); has {
				score, holds = max(score, s), true
			}
		}
		return score, holds
	case index.Prefer:
		score, holds = n.score(d, node.Must)
		for _, m := range node.Should {
			if s, has := n.score(d, m); has {
				score += s
			}
		}
		return score, holds
	case index.Phrase:
		return n.phrase(d, node)
	}
	n.t.Errorf("node of unknown type %T", node)
	return 0, false
}

func (n *naiveEngine) phrase(d *naiveDoc, p index.Phrase) (score float64, holds bool) {
	for _, from := range d.at[p.Terms[0]] {
		complete := true
		for i, t := range p.Terms {
			complete = complete && slices.Contains(d.at[t], from+uint32(i))
		}
		holds = holds || complete
	}
	for _, t := range p.Terms {
		score += p.Weight * n.bm25(t, len(d.at[t]))
	}
	return score, holds
}

func (n *naiveEngine) bm25(term string, times int) float64 {
	all, with := float64(len(n.docs)), float64(n.count(term))
	return math.Log(1+(all-with+0.5)/(with+0.5)) * 2.2 * float64(times) / (float64(times) + 1.2)
}

func countNodes(n index.Node) int {
	count := 1
	switch n := n.(type) {
	case index.All:
		for _, m := range n {
			count += countNodes(m)
		}
	case index.Any:
		for _, m := range n {
			count += countNodes(m)
		}
	case index.Prefer:
		count += countNodes(n.Must)
		for _, m := range n.Should {
			count += countNodes(m)
		}
	case index.Phrase:
		count += len(n.Terms)
	}
	return count
}
