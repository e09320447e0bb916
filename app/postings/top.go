package postings

import "slices"

// top keeps the hits that are worth most, and among equals those of the lowest group. They
// come in the order that decides among the others, so an equal of the least is of no use
// any more.
type top struct {
	most int
	hits []ranked // a heap, the least on top
	came int
}

type ranked struct {
	hit  Hit
	view int    // where the key is to be read
	doc  uint32 // likewise
	came int
}

func (t *top) full() bool { return len(t.hits) >= t.most }

// wants tells whether a document that came now and is worth so much would be kept.
func (t *top) wants(score float64, group uint8) bool {
	if !t.full() || t.most == 0 {
		return !t.full()
	}
	least := &t.hits[0].hit
	return score > least.Score || score == least.Score && group < least.Group
}

// less tells whether a is worth less than b.
func less(a, b *ranked) bool {
	if a.hit.Score != b.hit.Score {
		return a.hit.Score < b.hit.Score
	}
	if a.hit.Group != b.hit.Group {
		return a.hit.Group > b.hit.Group
	}
	return a.came > b.came
}

// add takes a hit that wants told of.
func (t *top) add(r ranked) {
	r.came = t.came
	t.came++
	if !t.full() {
		t.hits = append(t.hits, r)
		if t.full() {
			for i := len(t.hits)/2 - 1; i >= 0; i-- {
				t.down(i)
			}
		}
		return
	}
	t.hits[0] = r
	t.down(0)
}

func (t *top) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.hits) {
			return
		}
		if child+1 < len(t.hits) && less(&t.hits[child+1], &t.hits[child]) {
			child++
		}
		if less(&t.hits[i], &t.hits[child]) {
			return
		}
		t.hits[i], t.hits[child] = t.hits[child], t.hits[i]
		i = child
	}
}

// sorted returns the hits, those worth most first.
func (t *top) sorted() []ranked {
	slices.SortFunc(t.hits, func(a, b ranked) int {
		if less(&b, &a) {
			return -1
		}
		return 1
	})
	return t.hits
}
