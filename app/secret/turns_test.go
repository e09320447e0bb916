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

// crowd is a queue with callers that each keep their turn until goes.
type crowd struct {
	*turns
	got []string // callers in the order of their turns
	end map[string]chan struct{}
	err map[string]error
}

func newCrowd(most int, queue QueueLimits) *crowd {
	return &crowd{turns: newTurns(most, queue), end: map[string]chan struct{}{}, err: map[string]error{}}
}

// come starts a caller; the letters of its name are its owner.
func (c *crowd) come(ctx context.Context, name string) {
	owner, end := strings.Trim(name, "0123456789"), make(chan struct{})
	c.end[name] = end
	go func() {
		err := c.take(ctx, owner)
		c.note(name, err)
		if err != nil {
			return
		}
		<-end
		c.give(owner)
	}()
	synctest.Wait()
}

// note keeps what a caller got. Two may come at the same time, when their wait ends.
func (c *crowd) note(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err[name] = err; err == nil {
		c.got = append(c.got, name)
	}
}

// goes ends the turn of a caller.
func (c *crowd) goes(name string) {
	close(c.end[name])
	synctest.Wait()
}

// all ends each turn in the order in which they were got.
func (c *crowd) all() {
	for i := 0; i < len(c.got); i++ {
		select {
		case <-c.end[c.got[i]]:
		default:
			c.goes(c.got[i])
		}
	}
}

func (c *crowd) want(t *testing.T, got ...string) {
	t.Helper()
	if !slices.Equal(c.got, got) {
		t.Errorf("got turns %v, want %v", c.got, got)
	}
	if c.waiting < 0 || c.waiting > c.queue.length() {
		t.Errorf("%d wait", c.waiting)
	}
}

func (c *crowd) empty(t *testing.T, most int) {
	t.Helper()
	if c.free != most || c.waiting != 0 || len(c.held) != 0 || len(c.ring) != 0 {
		t.Errorf("at the end: %d free of %d, %d wait, held %v, ring %v", c.free, most, c.waiting, c.held, c.ring)
	}
}

func TestTurnsAreFair(t *testing.T) {
	for _, row := range []struct {
		name string
		come string
		want string
	}{
		{"one after another", "a1 a2 a3", "a1 a2 a3"},
		{"an owner has one turn at a time", "a1 a2 b1", "a1 b1 a2"},
		{"one of another goes after one of a crowd", "a1 b1 a2 a3 a4 a5 c1", "a1 b1 a2 c1 a3 a4 a5"},
		{"owners take turns", "a1 b1 a2 a3 b2 b3 c1 c2", "a1 b1 a2 b2 c1 a3 b3 c2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(2, QueueLimits{})
				for name := range strings.FieldsSeq(row.come) {
					c.come(t.Context(), name)
				}
				c.all()
				c.want(t, strings.Fields(row.want)...)
				c.empty(t, 2)
			})
		})
	}
}

// Two hundred owners wait before a person comes: the person's turn comes after theirs, and
// those of a crowd of one owner are not counted twice.
func TestTurnOfOneAmongHundreds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(2, QueueLimits{})
		for i := range 200 {
			c.come(t.Context(), "x"+strings.Repeat("y", i)+"1")
		}
		for i := range 100 {
			c.come(t.Context(), fmt.Sprint("x", i+2))
		}
		c.come(t.Context(), "person1")
		c.all()
		if at := slices.Index(c.got, "person1"); at != 201 || len(c.got) != 301 {
			t.Errorf("got turn %d of %d, want 201 of 301", at, len(c.got))
		}
		c.empty(t, 2)
	})
}

// A full queue refuses one more of the owner that fills it, and one of many owners who
// have as much; another owner takes a place of the one that has the most.
func TestFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1, QueueLimits{MaxLength: 3})
		for _, name := range []string{"a1", "a2", "a3", "a4", "a5"} {
			c.come(t.Context(), name)
		}
		if !errors.Is(c.err["a5"], ErrBusy) {
			t.Errorf("one more of the same owner: got %v, want %v", c.err["a5"], ErrBusy)
		}
		c.come(t.Context(), "b1")
		if !errors.Is(c.err["a4"], ErrBusy) || c.err["b1"] != nil {
			t.Errorf("another owner: the newest of the first got %v, the other %v; want %v, <nil>", c.err["a4"], c.err["b1"], ErrBusy)
		}
		c.come(t.Context(), "c1")
		c.come(t.Context(), "d1")
		if !errors.Is(c.err["a3"], ErrBusy) || !errors.Is(c.err["d1"], ErrBusy) {
			t.Errorf("a third and a fourth owner: got %v and %v, want %v for both", c.err["a3"], c.err["d1"], ErrBusy)
		}
		c.all()
		c.want(t, "a1", "a2", "b1", "c1")
		c.empty(t, 1)
	})
}

// One who waits goes when the time is over, or the client has left, and leaves no trace.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1, QueueLimits{MaxWait: 5 * time.Second})
		ctx, leave := context.WithCancel(t.Context())
		c.come(t.Context(), "a1")
		c.come(ctx, "b1")
		c.come(t.Context(), "c1")
		leave()
		synctest.Wait()
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		c.mu.Lock()
		if !errors.Is(c.err["b1"], context.Canceled) || c.err["c1"] != nil || c.waiting != 1 {
			t.Errorf("before the time: got %v and %v, %d wait; want %v, <nil>, 1", c.err["b1"], c.err["c1"], c.waiting, context.Canceled)
		}
		c.mu.Unlock()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !errors.Is(c.err["c1"], ErrBusy) {
			t.Errorf("after the time: got %v, want %v", c.err["c1"], ErrBusy)
		}
		c.all()
		c.want(t, "a1")
		c.empty(t, 1)
	})
}

// A turn that comes at the moment its owner leaves goes to the next.
func TestTurnOfOneWhoLeft(t *testing.T) {
	c := newTurns(1, QueueLimits{})
	if err := c.take(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	left, err := c.join("b")
	if err != nil {
		t.Fatal(err)
	}
	next, err := c.join("c")
	if err != nil {
		t.Fatal(err)
	}
	c.give("a") // b's ticket is called
	c.leave("b", left)
	select {
	case <-next.called:
	default:
		t.Error("the next one got no turn")
	}
}
