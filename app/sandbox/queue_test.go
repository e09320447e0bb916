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

// enqueue adds a new waiter to q without waiting for its slot, and returns it.
func enqueue(t *testing.T, q *queue, class Class, owner string) *waiter {
	t.Helper()
	ticket := &waiter{class: class, owner: owner, stop: func() {}}
	if err := q.enqueue(ticket); err != nil {
		t.Fatalf("enqueue: %v", err)
	}
	return ticket
}

// runFakeTime runs a subtest with a fake clock.
func runFakeTime(t *testing.T, name string, f func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func granted(t *waiter) bool {
	select {
	case <-t.ready:
		return true
	default:
		return false
	}
}

// All calls enter the queue while its only slot is taken. They must get the slot in the expected
// order.
func TestQueueOrder(t *testing.T) {
	type call struct {
		class Class
		owner string
	}
	for _, c := range []struct {
		name  string
		calls []call
		want  string // indexes into calls, in the expected order
	}{
		{"as they come", []call{{Upload, "a"}, {Upload, "a"}, {Upload, "a"}}, "0 1 2"},
		{"the urgent first", []call{{Background, "a"}, {View, "a"}, {Upload, "a"}, {View, "a"}}, "2 1 3 0"},
		{"owners take turns", []call{{Upload, "a"}, {Upload, "a"}, {Upload, "a"}, {Upload, "b"}, {Upload, "c"}, {Upload, "b"}}, "0 3 4 1 5 2"},
		{"owners of each class separately", []call{{View, "a"}, {View, "a"}, {Upload, "a"}, {View, "b"}}, "2 0 3 1"},
		{"no owner counts as one", []call{{Upload, ""}, {Upload, ""}, {Upload, "a"}}, "0 2 1"},
	} {
		runFakeTime(t, c.name, func(t *testing.T) {
			q := newQueue(1, 100)
			held := enqueue(t, q, Upload, "holder")
			if !granted(held) {
				t.Fatal("the call waits for a free slot, want it granted")
			}
			var tickets []*waiter
			for _, call := range c.calls {
				tickets = append(tickets, enqueue(t, q, call.class, call.owner))
			}
			var got []string
			for range tickets {
				q.release(held, false)
				for i, ticket := range tickets {
					if name := fmt.Sprint(i); granted(ticket) && !slices.Contains(got, name) {
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

// If one owner has a hundred documents in the queue, another owner's single document waits for the
// running one and at most one more of them.
func TestOneAgainstHundred(t *testing.T) { synctest.Test(t, oneAgainstHundred) }

func oneAgainstHundred(t *testing.T) {
	q := newQueue(1, 1000)
	var many []*waiter
	for range 100 {
		many = append(many, enqueue(t, q, Upload, "many"))
	}
	one := enqueue(t, q, Upload, "one")
	q.release(many[0], false)
	q.release(many[1], false)
	if !granted(one) {
		t.Error("the call of the single document waits, want it granted")
	}
	if n := slices.IndexFunc(many, func(t *waiter) bool { return !granted(t) }); n != 2 {
		t.Errorf("%d of the hundred went first, want 2", n)
	}
}

// If there are several slots, background work leaves one of them free.
func TestBackgroundLeavesASlot(t *testing.T) {
	for _, c := range []struct{ slots, limit int }{{1, 1}, {2, 1}, {4, 3}} {
		q := newQueue(c.slots, 100)
		var held []*waiter
		for range 10 {
			if t := enqueue(t, q, Background, ""); granted(t) {
				held = append(held, t)
			}
		}
		if len(held) != c.limit {
			t.Errorf("background work holds %d of %d slots, want %d", len(held), c.slots, c.limit)
		}
		urgent := enqueue(t, q, View, "")
		if granted(urgent) != (c.slots > 1) {
			t.Errorf("view with %d slots: granted = %t, want %t", c.slots, granted(urgent), c.slots > 1)
		}
		q.release(held[0], false)
		if !granted(urgent) {
			t.Errorf("the view waits after one of %d slots was released, want it granted", c.slots)
		}
	}
}

func TestQueueIsFull(t *testing.T) {
	q := newQueue(1, 4)
	enqueue(t, q, Upload, "holder")
	var flood []*waiter
	for range 4 {
		flood = append(flood, enqueue(t, q, Upload, "flood"))
	}
	if err := q.enqueue(&waiter{class: Upload, owner: "flood"}); !errors.Is(err, ErrBusy) {
		t.Errorf("fifth call: error = %v, want ErrBusy", err)
	}
	// Another class has its own limit. A call of another owner replaces the newest call of the
	// flood.
	enqueue(t, q, View, "flood")
	other := enqueue(t, q, Upload, "other")
	if last := flood[3]; !granted(last) || !errors.Is(last.err, ErrBusy) {
		t.Error("last call of the flood: want it dropped with ErrBusy")
	}
	enqueue(t, q, Upload, "other")
	if err := q.enqueue(&waiter{class: Upload, owner: "other"}); !errors.Is(err, ErrBusy) {
		t.Errorf("owner with a queue as long as the longest: error = %v, want ErrBusy", err)
	}
	if granted(other) || granted(flood[0]) || granted(flood[1]) || !granted(flood[2]) {
		t.Error("the queue dropped another call, want the last one of the flood dropped")
	}
	if n := q.waiting(); n != 5 {
		t.Errorf("waiting() = %d, want 5", n)
	}
}

// A canceled call is removed from the queue. If a slot is granted at the same moment, the slot is
// not lost.
func TestCanceledCallLeavesQueue(t *testing.T) {
	q := newQueue(1, 4)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	holder := enqueue(t, q, Upload, "holder")
	if err := q.acquire(gone, &waiter{class: Upload, owner: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	if n := q.waiting(); n != 0 {
		t.Errorf("waiting() = %d, want 0", n)
	}
	q.release(holder, false)
	for range 100 {
		// Either outcome is correct as long as the slot is released.
		left := &waiter{class: Background, owner: "a"}
		if err := q.acquire(gone, left); err == nil {
			q.release(left, false)
		}
	}
	empty(t, q)
}

// empty fails the test if q still holds waiters, owners, or slots.
func empty(t *testing.T, q *queue) {
	t.Helper()
	if len(q.running) != 0 || q.waiting() != 0 || len(q.slotTime) != 0 || len(q.slowCount) != 0 || q.minSlotTime != 0 {
		t.Errorf("%d of %d held, %d wait, %v used, level %v, %v slow", len(q.running), q.slots, q.waiting(), q.slotTime, q.minSlotTime,
			q.slowCount)
	}
}
