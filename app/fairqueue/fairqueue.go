// Package fairqueue provides a queue that its owners share fairly: what one owner adds delays
// the items of other owners as little as possible.
package fairqueue

import "slices"

// Queue holds waiting items by owner. The zero value is empty. It is not safe for concurrent use.
type Queue[T comparable] struct {
	owners []*line[T] // the one that was served least recently first
	length int
}

// line holds the items of one owner, oldest first. It is never empty.
type line[T comparable] struct {
	owner string
	items []T
}

// Len returns the number of items.
func (q *Queue[T]) Len() int { return q.length }

// HasOwner reports whether an owner with items satisfies the condition.
func (q *Queue[T]) HasOwner(matches func(owner string) bool) bool {
	return slices.ContainsFunc(q.owners, func(l *line[T]) bool { return matches(l.owner) })
}

// Add appends an item to those of its owner. If first is true, it puts it in front of them.
func (q *Queue[T]) Add(owner string, item T, first bool) {
	q.length++
	at := q.index(owner)
	switch {
	case at < 0:
		q.owners = append(q.owners, &line[T]{owner, []T{item}})
	case first:
		q.owners[at].items = slices.Insert(q.owners[at].items, 0, item)
	default:
		q.owners[at].items = append(q.owners[at].items, item)
	}
}

// Next removes and returns the oldest item of the owner with the lowest cost. On a tie, the owner
// that was served least recently goes first. It skips owners for which cost returns false. ok is
// false if no owner is left.
func (q *Queue[T]) Next(cost func(owner string) (int64, bool)) (item T, ok bool) {
	var next *line[T]
	var lowest int64
	for _, l := range q.owners {
		if c, may := cost(l.owner); may && (next == nil || c < lowest) {
			next, lowest = l, c
		}
	}
	if next == nil {
		return item, false
	}
	item = next.items[0]
	q.Remove(next.owner, item)
	if at := q.index(next.owner); at >= 0 {
		q.owners = append(slices.Delete(q.owners, at, at+1), next)
	}
	return item, true
}

// Remove removes an item. It reports whether the item was in the queue.
func (q *Queue[T]) Remove(owner string, item T) bool {
	at := q.index(owner)
	if at < 0 {
		return false
	}
	l := q.owners[at]
	i := slices.Index(l.items, item)
	if i < 0 {
		return false
	}
	q.length--
	if i == 0 { // doesn't move a long backlog
		clear(l.items[:1])
		l.items = l.items[1:]
	} else {
		l.items = slices.Delete(l.items, i, i+1)
	}
	if len(l.items) == 0 {
		q.owners = slices.Delete(q.owners, at, at+1)
	}
	return true
}

// Items returns the number of items of an owner.
func (q *Queue[T]) Items(owner string) int {
	if at := q.index(owner); at >= 0 {
		return len(q.owners[at].items)
	}
	return 0
}

// DropNewest makes room for another item of owner: it removes and returns the newest item of the
// owner with the most items. It removes nothing and returns false if owner would then have at
// least as many items. This way, an owner that floods the queue affects only its own items.
func (q *Queue[T]) DropNewest(owner string) (item T, ok bool) {
	return q.DropHeaviest(q.Items(owner)+1, func(string) int { return 0 })
}

// DropHeaviest removes and returns the newest item of the owner with the highest weight: its
// number of items plus what extra returns. Of several owners, it is the one that was added or
// served last. It removes nothing and returns false if that weight is not above limit.
func (q *Queue[T]) DropHeaviest(limit int, extra func(owner string) int) (item T, ok bool) {
	if len(q.owners) == 0 {
		return item, false
	}
	weight := func(l *line[T]) int { return len(l.items) + extra(l.owner) }
	heaviest := q.owners[0]
	for _, l := range q.owners[1:] {
		if weight(l) >= weight(heaviest) {
			heaviest = l
		}
	}
	if weight(heaviest) <= limit {
		return item, false
	}
	item = heaviest.items[len(heaviest.items)-1]
	return item, q.Remove(heaviest.owner, item)
}

func (q *Queue[T]) index(owner string) int {
	return slices.IndexFunc(q.owners, func(l *line[T]) bool { return l.owner == owner })
}
