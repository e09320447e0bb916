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

// naiveEngine is a simple index that evaluates a query against every document.
type naiveEngine struct {
	docs     []*naiveDoc
	last     *naiveDoc
	t        testing.TB
	maxNodes int // highest number of nodes in a query so far
	lookups  int // number of terms looked up
}

// naiveDoc is a document of a naiveEngine.
type naiveDoc struct {
	key   uint64
	group uint8
	date  int32
	at    map[string][]uint32 // positions of each term; nil if the term has no positions
}

func (n *naiveEngine) StartDocument(key uint64, group uint8, date int32) {
	n.Remove(key)
	n.last = &naiveDoc{key: key, group: group, date: date, at: make(map[string][]uint32)}
	n.docs = append(n.docs, n.last)
}

func (n *naiveEngine) AddTerm(term []byte) {
	n.checkTerm(term)
	n.last.at[string(term)] = nil
}

func (n *naiveEngine) AddWord(term []byte, position uint32) (first bool) {
	n.checkTerm(term)
	at := n.last.at[string(term)]
	if len(at) > 0 && at[len(at)-1] >= position && (term[0] != nsPartyWord || at[len(at)-1] > position) {
		n.t.Errorf("position of %q = %d after %d, want ascending positions", term, position, at[len(at)-1])
	}
	n.last.at[string(term)] = append(at, position)
	return len(at) == 0
}

// checkTerm fails the test if a term has an invalid length.
func (n *naiveEngine) checkTerm(term []byte) {
	if len(term) < 2 || len(term) > index.MaxTermBytes {
		n.t.Errorf("term %q ok %d bytes, want 2 to %d", term, len(term), index.MaxTermBytes)
	}
}

func (n *naiveEngine) Remove(key uint64) {
	n.docs = slices.DeleteFunc(n.docs, func(d *naiveDoc) bool { return d.key == key })
}

func (n *naiveEngine) Bytes() int { return 0 }

func (n *naiveEngine) DocFreqs(_ context.Context, terms []string) (map[string]int, error) {
	if !slices.IsSorted(terms) {
		n.t.Errorf("DocFreqs(%q): want sorted terms", terms)
	}
	n.lookups += len(terms)
	freqs := make(map[string]int)
	for _, t := range terms {
		if c := n.count(t); c > 0 {
			freqs[t] = c
		}
	}
	return freqs, nil
}

// count returns the number of documents that contain a term.
func (n *naiveEngine) count(term string) (c int) {
	for _, d := range n.docs {
		if _, ok := d.at[term]; ok {
			c++
		}
	}
	return c
}

func (n *naiveEngine) Terms(_ context.Context, prefix string, limit int) ([]string, error) {
	if limit > maxExpansion {
		n.t.Errorf("Terms(%q, %d): want a limit of at most %d", prefix, limit, maxExpansion)
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
		score, matches := n.score(d, q.Node)
		for _, t := range q.Filters {
			_, ok := d.at[t]
			matches = matches && ok
		}
		if !matches || q.HasDateRange && (d.date < q.From || d.date > q.To) {
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

// score evaluates a node for a document. matches reports whether the document matches.
func (n *naiveEngine) score(d *naiveDoc, node index.Node) (score float64, matches bool) {
	switch node := node.(type) {
	case index.Term:
		at, ok := d.at[node.Text]
		if !ok || node.ConstantScore {
			return node.Weight, ok
		}
		return node.Weight * n.bm25(node.Text, len(at)), true
	case index.All:
		for _, m := range node {
			s, ok := n.score(d, m)
			if !ok {
				return 0, false
			}
			score += s
		}
		return score, true
	case index.Any:
		for _, m := range node {
			if s, ok := n.score(d, m); ok {
				score, matches = max(score, s), true
			}
		}
		return score, matches
	case index.Prefer:
		score, matches = n.score(d, node.Must)
		for _, m := range node.Should {
			if s, ok := n.score(d, m); ok {
				score += s
			}
		}
		return score, matches
	case index.Phrase:
		return n.phrase(d, node)
	case index.Together:
		return 0, slices.ContainsFunc(d.at[node[0]], func(at uint32) bool {
			return !slices.ContainsFunc(node, func(t string) bool { return !slices.Contains(d.at[t], at) })
		})
	}
	n.t.Errorf("node = %T, want a known type", node)
	return 0, false
}

// phrase evaluates a phrase for a document. matches reports whether the document matches.
func (n *naiveEngine) phrase(d *naiveDoc, p index.Phrase) (score float64, matches bool) {
	for _, from := range d.at[p.Terms[0]] {
		complete := true
		for i, t := range p.Terms {
			complete = complete && slices.Contains(d.at[t], from+uint32(i))
		}
		matches = matches || complete
	}
	for _, t := range p.Terms {
		score += p.Weight * n.bm25(t, len(d.at[t]))
	}
	return score, matches
}

// bm25 returns the BM25 score of a term that occurs freq times in a document.
func (n *naiveEngine) bm25(term string, freq int) float64 {
	docs, docFreq := float64(len(n.docs)), float64(n.count(term))
	return math.Log(1+(docs-docFreq+0.5)/(docFreq+0.5)) * 2.2 * float64(freq) / (float64(freq) + 1.2)
}

// countNodes returns the number of nodes in a query, including the terms of phrases.
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
	case index.Together:
		count += len(n)
	}
	return count
}
