package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// enter puts a ticket into q and returns it; it never waits.
func enter(t *testing.T, q *queue, class Class, owner string) *waiter {
	t.Helper()
	ticket := &waiter{class: class, owner: owner, stop: func() {}}
	if err := q.enqueue(ticket); err != nil {
		t.Fatal(err)
	}
	return ticket
}

// isolated runs a test in a time of its own, which stands still while something is done.
func isolated(t *testing.T, name string, f func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func called(t *waiter) bool {
	select {
	case <-t.ready:
		return true
	default:
		return false
	}
}

// TestQueueOrder fills a queue of one slot, which is taken, and looks in which
// order it lets in.
func TestQueueOrder(t *testing.T) {
	type call struct {
		class Class
		owner string
	}
	for _, c := range []struct {
		name  string
		calls []call
		want  string // places in calls
	}{
		{"as they come", []call{{Upload, "a"}, {Upload, "a"}, {Upload, "a"}}, "0 1 2"},
		{"the urgent first", []call{{Background, "a"}, {View, "a"}, {Upload, "a"}, {View, "a"}}, "2 1 3 0"},
		{"owners take turns", []call{{Upload, "a"}, {Upload, "a"}, {Upload, "a"}, {Upload, "b"}, {Upload, "c"}, {Upload, "b"}}, "0 3 4 1 5 2"},
		{"owners of each class by themselves", []call{{View, "a"}, {View, "a"}, {Upload, "a"}, {View, "b"}}, "2 0 3 1"},
		{"nobody is an owner as well", []call{{Upload, ""}, {Upload, ""}, {Upload, "a"}}, "0 2 1"},
	} {
		isolated(t, c.name, func(t *testing.T) {
			q := newQueue(1, 100)
			held := enter(t, q, Upload, "holder")
			if !called(held) {
				t.Fatal("a free slot is not given")
			}
			var tickets []*waiter
			for _, call := range c.calls {
				tickets = append(tickets, enter(t, q, call.class, call.owner))
			}
			var got []string
			for range tickets {
				q.release(held, false)
				for i, ticket := range tickets {
					if name := fmt.Sprint(i); called(ticket) && !slices.Contains(got, name) {
						got, held = append(got, name), ticket
					}
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
			q.release(held, false)
			empty(t, q)
		})
	}
}

// TestHundredAgainstOne: who sends one document waits for one of another's
// hundred at most.
func TestHundredAgainstOne(t *testing.T) { synctest.Test(t, hundredAgainstOne) }

func hundredAgainstOne(t *testing.T) {
	q := newQueue(1, 1000)
	var many []*waiter
	for range 100 {
		many = append(many, enter(t, q, Upload, "many"))
	}
	one := enter(t, q, Upload, "one")
	q.release(many[0], false)
	q.release(many[1], false)
	if !called(one) {
		t.Error("one still waits")
	}
	if n := slices.IndexFunc(many, func(t *waiter) bool { return !called(t) }); n != 2 {
		t.Errorf("%d of the many went before", n)
	}
}

// TestBackgroundLeavesASlot: processing holds all slots but one, and that one
// only where there is no other.
func TestBackgroundLeavesASlot(t *testing.T) {
	for _, c := range []struct{ slots, most int }{{1, 1}, {2, 1}, {4, 3}} {
		q := newQueue(c.slots, 100)
		var held []*waiter
		for range 10 {
			if t := enter(t, q, Background, ""); called(t) {
				held = append(held, t)
			}
		}
		if len(held) != c.most {
			t.Errorf("background holds %d of %d", len(held), c.slots)
		}
		urgent := enter(t, q, View, "")
		if called(urgent) != (c.slots > 1) {
			t.Errorf("view with %d slots: %t", c.slots, called(urgent))
		}
		q.release(held[0], false)
		if !called(urgent) {
			t.Errorf("view waits although a slot of %d came free", c.slots)
		}
	}
}

func TestQueueIsFull(t *testing.T) {
	q := newQueue(1, 4)
	enter(t, q, Upload, "holder")
	var flood []*waiter
	for range 4 {
		flood = append(flood, enter(t, q, Upload, "flood"))
	}
	if err := q.enqueue(&waiter{class: Upload, owner: "flood"}); !errors.Is(err, ErrBusy) {
		t.Errorf("the fifth: %v", err)
	}
	// Another class, and the first of another owner, find room.
	enter(t, q, View, "flood")
	other := enter(t, q, Upload, "other")
	if last := flood[3]; !called(last) || !errors.Is(last.err, ErrBusy) {
		t.Error("the flood did not give way")
	}
	enter(t, q, Upload, "other")
	if err := q.enqueue(&waiter{class: Upload, owner: "other"}); !errors.Is(err, ErrBusy) {
		t.Errorf("as long as the longest: %v", err)
	}
	if called(other) || called(flood[0]) || called(flood[1]) || !called(flood[2]) {
		t.Error("the wrong ones gave way")
	}
	if n := q.waiting(); n != 5 {
		t.Errorf("%d wait", n)
	}
}

// TestLeaveTheQueue: who goes away leaves no gap, and a slot that was given just
// then is not lost.
func TestLeaveTheQueue(t *testing.T) {
	q := newQueue(1, 4)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	holder := enter(t, q, Upload, "holder")
	if err := q.acquire(gone, &waiter{class: Upload, owner: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := q.waiting(); n != 0 || len(q.classes[Upload].byOwner) != 0 || q.classes[Upload].owners.Len() != 0 {
		t.Errorf("%d wait", n)
	}
	q.release(holder, false)
	for range 100 {
		// Either answer is right; what counts is that the slot comes back.
		left := &waiter{class: Background, owner: "a"}
		if err := q.acquire(gone, left); err == nil {
			q.release(left, false)
		}
	}
	empty(t, q)
}

// empty fails the test when q remembers anything.
func empty(t *testing.T, q *queue) {
	t.Helper()
	if len(q.running) != 0 || q.waiting() != 0 || len(q.slotTime) != 0 || len(q.slowCount) != 0 || q.minSlotTime != 0 {
		t.Errorf("%d of %d held, %d wait, %v used, level %v, %v slow", len(q.running), q.slots, q.waiting(), q.slotTime, q.minSlotTime, q.slowCount)
	}
	for _, l := range q.classes {
		if l.owners.Len() != 0 || len(l.byOwner) != 0 {
			t.Errorf("%d owners", l.owners.Len())
		}
	}
}
