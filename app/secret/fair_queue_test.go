package secret

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// testCallers is a queue with callers. Each caller runs its job until finish is called.
type testCallers struct {
	*fairQueue
	got []string // callers, in the order in which they ran
	end map[string]chan struct{}
	err map[string]error
}

func newTestCallers(slots int, limits QueueLimits) *testCallers {
	return &testCallers{fairQueue: newFairQueue(slots, limits), end: map[string]chan struct{}{}, err: map[string]error{}}
}

// start starts a caller. The letters in its name are the name of its owner. Names in capital
// letters are known.
func (c *testCallers) start(ctx context.Context, name string) {
	owner, end := strings.Trim(name, "0123456789"), make(chan struct{})
	c.end[name] = end
	go func() {
		err := c.acquire(ctx, Requester{Owner: owner, Known: owner == strings.ToUpper(owner)})
		c.record(name, err)
		if err != nil {
			return
		}
		<-end
		c.release(owner, 0)
	}()
	synctest.Wait()
}

// record records the result of acquire. If their waits end at the same time, two callers
// can call it concurrently.
func (c *testCallers) record(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err[name] = err; err == nil {
		c.got = append(c.got, name)
	}
}

// finish ends the job of a caller.
func (c *testCallers) finish(name string) {
	close(c.end[name])
	synctest.Wait()
}

// finishAll ends all jobs in the order in which they started.
func (c *testCallers) finishAll() {
	for i := 0; i < len(c.got); i++ {
		select {
		case <-c.end[c.got[i]]:
		default:
			c.finish(c.got[i])
		}
	}
}

func (c *testCallers) want(t *testing.T, got ...string) {
	t.Helper()
	if !slices.Equal(c.got, got) {
		t.Errorf("callers ran in order %v, want %v", c.got, got)
	}
	if n := c.waiting(); n > c.limits.length() {
		t.Errorf("%d waiters, want at most %d", n, c.limits.length())
	}
}

func (c *testCallers) waiting() int { return c.known.Len() + c.others.Len() }

func (c *testCallers) empty(t *testing.T, slots int) {
	t.Helper()
	if c.free != slots || c.waiting() != 0 || len(c.running) != 0 || len(c.jobs) != 0 {
		t.Errorf("at the end: %d slots of %d are free, %d waiters, running %v, jobs %v", c.free, slots, c.waiting(), c.running, c.jobs)
	}
}

func TestFairQueueOrder(t *testing.T) {
	for _, row := range []struct {
		name    string
		callers string
		want    string
	}{
		{"sequence of one owner", "a1 a2 a3", "a1 a2 a3"},
		{"one job per owner at a time", "a1 a2 b1", "a1 b1 a2"},
		{"a new owner overtakes a crowded one", "a1 b1 a2 a3 a4 a5 c1", "a1 b1 c1 a2 a3 a4 a5"},
		{"fewest jobs first", "a1 b1 a2 a3 b2 b3 c1 c2", "a1 b1 c1 a2 b2 c2 a3 b3"},
		{"known before others", "a1 b1 c1 c2 d1 K1 L1", "a1 b1 K1 L1 c1 d1 c2"},
		{"known owners take turns", "a1 b1 K1 K2 K3 L1", "a1 b1 K1 L1 K2 K3"},
		{"one of the others after three known", "a1 b1 c1 d1 K1 L1 M1 N1 O1 P1 Q1", "a1 b1 K1 L1 M1 c1 N1 O1 P1 d1 Q1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTestCallers(2, QueueLimits{})
				for name := range strings.FieldsSeq(row.callers) {
					c.start(t.Context(), name)
				}
				c.finishAll()
				c.want(t, strings.Fields(row.want)...)
				c.empty(t, 2)
			})
		})
	}
}

// TestFairQueueFlood lets 200 owners request jobs all the time. A known requester gets the next
// slot, and a new one gets a slot as soon as each of the others had one job.
func TestFairQueueFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCallers(2, QueueLimits{})
		flood := func(round int) {
			for i := range 200 {
				c.start(t.Context(), fmt.Sprintf("x%s%d", strings.Repeat("y", i), round))
			}
		}
		flood(1)
		c.finish(c.got[0])
		c.start(t.Context(), "K1")
		c.finish(c.got[1])
		if at := slices.Index(c.got, "K1"); at != 3 {
			t.Errorf("known requester ran at %d, want 3 of %d", at, len(c.got))
		}
		flood(2)
		c.start(t.Context(), "new1")
		c.finishAll()
		if at := slices.Index(c.got, "new1"); at != 201 || len(c.got) != 402 {
			t.Errorf("new requester ran at %d of %d, want 201 of 402", at, len(c.got))
		}
		c.empty(t, 2)
	})
}

// TestFairQueueRejectsEarly checks that a request is rejected immediately if the queue is so long
// that it would have to wait longer than allowed. A known requester and one that has used less
// than another get a place.
func TestFairQueueRejectsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCallers(1, QueueLimits{MaxWait: 5 * time.Second})
		for range 20 { // a job takes about two seconds: two may wait
			if err := c.acquire(t.Context(), Requester{Owner: "a"}); err != nil {
				t.Fatalf("acquire: %v", err)
			}
			c.release("a", 2*time.Second)
		}
		c.start(t.Context(), "a1")
		for _, name := range []string{"b1", "a2", "c1", "d1", "K1", "L1"} {
			c.start(t.Context(), name)
		}
		for name, busy := range map[string]bool{"a1": false, "a2": true, "b1": false, "c1": false, "d1": true, "K1": false, "L1": false} {
			if got := errors.Is(c.err[name], ErrBusy); got != busy {
				t.Errorf("%s: got %v, want %v: %v", name, c.err[name], ErrBusy, busy)
			}
		}
		c.finishAll()
		c.want(t, "a1", "K1", "L1", "b1", "c1")
		c.empty(t, 1)
	})
}

// TestFairQueueWithManyOwners makes a user wait while 200 other owners are waiting. The
// user is next after one job of each, no matter how many requests the others have.
func TestFairQueueWithManyOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCallers(2, QueueLimits{})
		for i := range 200 {
			c.start(t.Context(), "x"+strings.Repeat("y", i)+"1")
		}
		for i := range 100 {
			c.start(t.Context(), fmt.Sprint("x", i+2))
		}
		c.start(t.Context(), "person1")
		c.finishAll()
		if at := slices.Index(c.got, "person1"); at != 200 || len(c.got) != 301 {
			t.Errorf("person ran at %d of %d, want 200 of 301", at, len(c.got))
		}
		c.empty(t, 2)
	})
}

// TestFairQueueFull checks that a full queue rejects another request from the owner with
// the most waiters. For a request from a new owner, it evicts one of those waiters.
func TestFairQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCallers(1, QueueLimits{MaxLength: 3})
		for _, name := range []string{"a1", "a2", "a3", "a4", "a5"} {
			c.start(t.Context(), name)
		}
		if !errors.Is(c.err["a5"], ErrBusy) {
			t.Errorf("another request of the same owner: got %v, want %v", c.err["a5"], ErrBusy)
		}
		c.start(t.Context(), "b1")
		if !errors.Is(c.err["a4"], ErrBusy) || c.err["b1"] != nil {
			t.Errorf("another owner: the newest of the first got %v, the other %v; want %v, <nil>", c.err["a4"], c.err["b1"], ErrBusy)
		}
		c.start(t.Context(), "c1")
		c.start(t.Context(), "d1")
		if !errors.Is(c.err["a3"], ErrBusy) || !errors.Is(c.err["a2"], ErrBusy) || c.err["d1"] != nil {
			t.Errorf("a third and a fourth owner: the others of the first got %v and %v, the fourth %v; want %v twice, then <nil>",
				c.err["a3"], c.err["a2"], c.err["d1"], ErrBusy)
		}
		c.start(t.Context(), "e1")
		c.start(t.Context(), "K1")
		if !errors.Is(c.err["e1"], ErrBusy) || c.err["K1"] != nil {
			t.Errorf("a fifth and a known owner: got %v and %v, want %v and <nil>", c.err["e1"], c.err["K1"], ErrBusy)
		}
		c.finishAll()
		c.want(t, "a1", "K1", "b1", "c1")
		c.empty(t, 1)
	})
}

// TestFairQueueWaitEnds checks that a waiter is removed if it reaches the time limit or
// its context is canceled.
func TestFairQueueWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCallers(1, QueueLimits{MaxWait: 5 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		c.start(t.Context(), "a1")
		c.start(ctx, "b1")
		c.start(t.Context(), "c1")
		cancel()
		synctest.Wait()
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		c.mu.Lock()
		if !errors.Is(c.err["b1"], context.Canceled) || c.err["c1"] != nil || c.waiting() != 1 {
			t.Errorf("before the limit: got %v and %v, %d waiters; want %v, <nil>, 1", c.err["b1"], c.err["c1"], c.waiting(), context.Canceled)
		}
		c.mu.Unlock()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !errors.Is(c.err["c1"], ErrBusy) {
			t.Errorf("after the limit: got %v, want %v", c.err["c1"], ErrBusy)
		}
		c.finishAll()
		c.want(t, "a1")
		c.empty(t, 1)
	})
}

// TestFairQueueCancelWhenReady checks that if a waiter is canceled at the moment it
// becomes ready, the next waiter gets its slot.
func TestFairQueueCancelWhenReady(t *testing.T) {
	c := newFairQueue(1, QueueLimits{})
	if err := c.acquire(t.Context(), Requester{Owner: "a"}); err != nil {
		t.Fatalf("acquire: %v", err)
	}
	canceled, err := c.enqueue(Requester{Owner: "b"})
	if err != nil {
		t.Fatalf("enqueue: %v", err)
	}
	next, err := c.enqueue(Requester{Owner: "c"})
	if err != nil {
		t.Fatalf("enqueue: %v", err)
	}
	c.release("a", 0) // b's waiter is ready
	c.cancel(canceled)
	select {
	case <-next.ready:
	default:
		t.Error("the next waiter is waiting, want it ready")
	}
}
