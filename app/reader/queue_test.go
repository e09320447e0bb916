package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// enter puts a ticket into q and returns it; it never waits.
func enter(t *testing.T, q *queue, class Class, owner string) *ticket {
	t.Helper()
	ticket, err := q.enter(class, owner)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func called(t *ticket) bool {
	select {
	case <-t.called:
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
		t.Run(c.name, func(t *testing.T) {
			q := newQueue(1, 100)
			if holder := enter(t, q, Upload, "holder"); !called(holder) {
				t.Fatal("a free slot is not given")
			}
			var tickets []*ticket
			for _, call := range c.calls {
				tickets = append(tickets, enter(t, q, call.class, call.owner))
			}
			var got []string
			held := &ticket{class: Upload, owner: "holder"}
			for range tickets {
				q.release(held.class, held.owner, 0)
				for i, ticket := range tickets {
					if name := fmt.Sprint(i); called(ticket) && !slices.Contains(got, name) {
						got, held = append(got, name), ticket
					}
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
			q.release(held.class, held.owner, 0)
			empty(t, q)
		})
	}
}

// TestHundredAgainstOne: who sends one document waits for one of another's
// hundred at most.
func TestHundredAgainstOne(t *testing.T) {
	q := newQueue(1, 1000)
	var many []*ticket
	for range 100 {
		many = append(many, enter(t, q, Upload, "many"))
	}
	one := enter(t, q, Upload, "one")
	q.release(Upload, "many", 0)
	q.release(Upload, "many", 0)
	if !called(one) {
		t.Error("one still waits")
	}
	if n := slices.IndexFunc(many, func(t *ticket) bool { return !called(t) }); n != 2 {
		t.Errorf("%d of the many went before", n)
	}
}

// TestBackgroundLeavesASlot: processing holds all slots but one, and that one
// only where there is no other.
func TestBackgroundLeavesASlot(t *testing.T) {
	for _, c := range []struct{ slots, most int }{{1, 1}, {2, 1}, {4, 3}} {
		q := newQueue(c.slots, 100)
		held := 0
		for range 10 {
			if called(enter(t, q, Background, "")) {
				held++
			}
		}
		if held != c.most {
			t.Errorf("background holds %d of %d", held, c.slots)
		}
		urgent := enter(t, q, View, "")
		if called(urgent) != (c.slots > 1) {
			t.Errorf("view with %d slots: %t", c.slots, called(urgent))
		}
		q.release(Background, "", time.Hour)
		if !called(urgent) {
			t.Errorf("view waits although a slot of %d came free", c.slots)
		}
	}
}

func TestQueueIsFull(t *testing.T) {
	q := newQueue(1, 4)
	enter(t, q, Upload, "holder")
	var flood []*ticket
	for range 4 {
		flood = append(flood, enter(t, q, Upload, "flood"))
	}
	if _, err := q.enter(Upload, "flood"); !errors.Is(err, ErrBusy) {
		t.Errorf("the fifth: %v", err)
	}
	// Another class, and the first of another owner, find room.
	enter(t, q, View, "flood")
	other := enter(t, q, Upload, "other")
	if last := flood[3]; !called(last) || !errors.Is(last.err, ErrBusy) {
		t.Error("the flood did not give way")
	}
	enter(t, q, Upload, "other")
	if _, err := q.enter(Upload, "other"); !errors.Is(err, ErrBusy) {
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
	enter(t, q, Upload, "holder")
	if err := q.acquire(gone, Upload, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := q.waiting(); n != 0 || len(q.lanes[Upload].byOwner) != 0 || q.lanes[Upload].ring.Len() != 0 {
		t.Errorf("%d wait", n)
	}
	q.release(Upload, "holder", 0)
	for range 100 {
		// Either answer is right; what counts is that the slot comes back.
		if err := q.acquire(gone, Background, "a"); err == nil {
			q.release(Background, "a", time.Hour)
		}
	}
	empty(t, q)
}

// empty fails the test when q remembers anything.
func empty(t *testing.T, q *queue) {
	t.Helper()
	if q.free != q.slots || q.background != max(1, q.slots-1) || q.waiting() != 0 || len(q.held) != 0 || len(q.slow) != 0 {
		t.Errorf("%d of %d free, %d for background, %d wait, %v held, %v slow", q.free, q.slots, q.background, q.waiting(), q.held, q.slow)
	}
	for _, l := range q.lanes {
		if l.ring.Len() != 0 || len(l.byOwner) != 0 {
			t.Errorf("%d owners", l.ring.Len())
		}
	}
}

// TestSlowOwnerLeavesASlot: who has sent one document that took long holds all
// slots but one from then on, and nobody waits behind two of his.
func TestSlowOwnerLeavesASlot(t *testing.T) {
	q := newQueue(2, 100)
	var bombs []*ticket
	for range 5 {
		bombs = append(bombs, enter(t, q, Upload, "bombs"))
	}
	q.release(Upload, "bombs", slowWork)
	if called(bombs[2]) {
		t.Error("the slow one got the last slot again")
	}
	one := enter(t, q, Upload, "one")
	if !called(one) {
		t.Error("another waits beside a free slot")
	}
	q.release(Upload, "bombs", 0)
	if !called(bombs[2]) || called(bombs[3]) {
		t.Error("the slow one is not let go on with one slot")
	}
	q.release(Upload, "one", 0)
	for range 3 {
		q.release(Upload, "bombs", 0)
	}
	empty(t, q)
	// He may begin anew.
	for range 2 {
		if !called(enter(t, q, Upload, "bombs")) {
			t.Error("the slow one is never forgiven")
		}
	}
	q.release(Upload, "bombs", 0)
	q.release(Upload, "bombs", 0)
	empty(t, q)
}

// TestNamelessAreMany: work of no owner is not held against it.
func TestNamelessAreMany(t *testing.T) {
	q := newQueue(2, 100)
	enter(t, q, Upload, "")
	enter(t, q, Upload, "")
	third := enter(t, q, Upload, "")
	q.release(Upload, "", slowWork)
	if !called(third) {
		t.Error("waits beside a free slot")
	}
	q.release(Upload, "", slowWork)
	q.release(Upload, "", slowWork)
	empty(t, q)
}
