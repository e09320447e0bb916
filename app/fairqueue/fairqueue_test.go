package fairqueue_test

import (
	"slices"
	"testing"

	"deedkeep/app/fairqueue"
)

func free(string) (int64, bool) { return 0, true }

// drain returns the remaining items in the order of Next.
func drain(q *fairqueue.Queue[string], cost func(string) (int64, bool)) (items []string) {
	for {
		item, ok := q.Next(cost)
		if !ok {
			return items
		}
		items = append(items, item)
	}
}

// filled returns a queue in which a floods and b and c come later.
func filled() *fairqueue.Queue[string] {
	q := &fairqueue.Queue[string]{}
	for _, item := range []string{"a1", "a2", "a3", "a4", "b1", "b2", "c1"} {
		q.Add(item[:1], item, false)
	}
	return q
}

func TestNext(t *testing.T) {
	tests := []struct {
		name string
		cost func(string) (int64, bool)
		want []string
	}{
		{"owners take turns", free, []string{"a1", "b1", "c1", "a2", "b2", "a3", "a4"}},
		{"lowest cost first", func(owner string) (int64, bool) { return -int64(owner[0]), true }, []string{"c1", "b1", "b2", "a1", "a2", "a3", "a4"}},
		{"an owner may not", func(owner string) (int64, bool) { return 0, owner != "a" }, []string{"b1", "c1", "b2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := filled()
			if got := drain(q, tt.cost); !slices.Equal(got, tt.want) {
				t.Errorf("items = %q, want %q", got, tt.want)
			}
			if want := 7 - len(tt.want); q.Len() != want {
				t.Errorf("Len() = %d, want %d", q.Len(), want)
			}
		})
	}
}

func TestAddFirst(t *testing.T) {
	q := filled()
	q.Add("a", "a0", true)
	if got, _ := q.Next(free); got != "a0" {
		t.Errorf("Next() = %q, want a0", got)
	}
}

func TestRemove(t *testing.T) {
	q := filled()
	if !q.Remove("b", "b1") || !q.Remove("c", "c1") || q.Remove("c", "c1") || q.Remove("a", "b2") {
		t.Error("Remove() doesn't report whether the item was in the queue of its owner")
	}
	if q.HasOwner(func(owner string) bool { return owner == "c" }) {
		t.Error("HasOwner(c) = true after its only item was removed, want false")
	}
	if got, want := drain(q, free), []string{"a1", "b2", "a2", "a3", "a4"}; !slices.Equal(got, want) {
		t.Errorf("items = %q, want %q", got, want)
	}
}

func TestDropNewest(t *testing.T) {
	q := filled()
	if item, ok := q.DropNewest("a"); ok {
		t.Errorf("DropNewest(a) = %q, want none: a has the most items itself", item)
	}
	if item, ok := q.DropNewest("c"); !ok || item != "a4" {
		t.Errorf("DropNewest(c) = %q, %t; want a4", item, ok)
	}
	if item, ok := q.DropNewest("b"); ok {
		t.Errorf("DropNewest(b) = %q, want none: b would have as many items as a", item)
	}
	if item, ok := new(fairqueue.Queue[string]).DropNewest("a"); ok {
		t.Errorf("DropNewest of an empty queue = %q, want none", item)
	}
}

func TestDropHeaviest(t *testing.T) {
	q := filled()
	extra := func(owner string) int { return map[string]int{"b": 3}[owner] }
	if item, ok := q.DropHeaviest(4, extra); !ok || item != "b2" {
		t.Errorf("DropHeaviest(4) = %q, %t; want b2", item, ok)
	}
	if item, ok := q.DropHeaviest(4, extra); ok {
		t.Errorf("DropHeaviest(4) = %q, want none: a and b have a weight of 4", item)
	}
	if a, b, d := q.Items("a"), q.Items("b"), q.Items("d"); a != 4 || b != 1 || d != 0 {
		t.Errorf("items of a, b, and d: %d, %d, and %d; want 4, 1, and 0", a, b, d)
	}
}
