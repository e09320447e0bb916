package sandbox

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// work is a document in a simulation. at is when it arrives, takes is how long it occupies a
// worker, and want is how long after its arrival it must be complete.
type work struct {
	at    time.Duration
	class Class
	owner string
	takes time.Duration
	want  time.Duration // 0: no limit
}

// flood returns count documents that arrive at the beginning. Each owner's documents arrive at a
// different time.
func flood(count int, class Class, owner string, takes time.Duration) []work {
	return slices.Repeat([]work{{time.Duration(owner[0]-'a') * time.Millisecond, class, owner, takes, 0}}, count)
}

// simulate runs a queue with a fake clock and fake workers. It fails the test if a document is late
// or a slow owner gets a slot it must not have.
func simulate(t *testing.T, slots int, list []work) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q, began := newQueue(slots, 10_000), time.Now()
		for i, w := range list {
			go func() {
				time.Sleep(w.at)
				wt := &waiter{class: w.class, owner: w.owner}
				for again := true; again; {
					var ctx context.Context
					ctx, wt.stop = context.WithCancel(t.Context())
					if err := q.acquire(t.Context(), wt); err != nil {
						t.Errorf("acquire slot: %v", err)
						return
					}
					checkShare(t, q, wt)
					q.started(wt)
					select {
					case <-time.After(w.takes):
					case <-ctx.Done():
					}
					again = q.release(wt, ctx.Err() != nil)
					wt.stop()
				}
				if took := time.Since(began) - w.at; w.want > 0 && took > w.want {
					t.Errorf("document %d, of %s: done after %v, want at most %v", i, w.owner, took, w.want)
				}
			}()
		}
		// After an hour, all owners are quick again.
		time.Sleep(time.Hour)
		synctest.Wait()
		empty(t, q)
	})
}

// checkShare fails the test if a slow owner has a second slot, or if slow owners have the last one.
func checkShare(t *testing.T, q *queue, got *waiter) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	justSlow := func(h *waiter) bool { return h.owner == got.owner && time.Since(h.startedAt) == slowAfter }
	if q.slowCount[got.owner] == 0 || q.count(nil, justSlow) > 0 {
		return // the slot may have been granted just before the owner became slow
	}
	own := q.count(nil, func(h *waiter) bool { return h.class >= got.class && h.owner == got.owner })
	slow := q.count(nil, func(h *waiter) bool { return h.class >= got.class && q.slowCount[h.owner] > 0 })
	if own > 1 || slow > q.sharedSlots() {
		t.Errorf("slow owner %s has %d slots, want 1; all slow owners have %d, want at most %d", got.owner, own, slow, q.sharedSlots())
	}
}

func TestSlowOwners(t *testing.T) {
	const quick, deadline, minute = 10 * time.Millisecond, 20 * time.Second, time.Minute
	both := func(class Class, takes time.Duration) []work {
		return append(flood(10, class, "a", takes), flood(10, class, "c", takes)...)
	}
	undisturbed := []work{{0, Background, "a", deadline, deadline}, {0, Background, "a", deadline, deadline},
		{0, Background, "a", deadline, deadline}}
	for _, c := range []struct {
		name  string
		slots int
		list  []work
	}{
		{"processing, before anything is known", 2, append(flood(10, Background, "a", minute),
			work{quick, Background, "b", quick, slowAfter})},
		{"processing, beside what is known", 2, append(flood(10, Background, "a", minute),
			work{time.Second, Background, "b", quick, quick}, work{90 * time.Second, Background, "b", quick, quick})},
		{"processing, two slow owners", 2, append(both(Background, minute),
			work{time.Second, Background, "b", quick, quick}, work{61 * time.Second, Background, "b", quick, quick})},
		{"uploads, before anything is known", 2, append(flood(10, Upload, "a", deadline),
			work{quick, Upload, "b", quick, slowAfter})},
		{"uploads, beside what is known", 2, append(flood(10, Upload, "a", deadline),
			work{time.Second, Upload, "b", quick, quick}, work{21 * time.Second, Upload, "b", quick, quick},
			work{22 * time.Second, View, "d", quick, quick})},
		{"four slots, three slow owners", 4, append(append(both(Upload, deadline), flood(10, Upload, "e", deadline)...),
			work{time.Second, Upload, "b", quick, quick}, work{25 * time.Second, View, "b", quick, quick})},
		{"a slow view beside slow processing", 2, append(append(flood(5, Background, "a", minute), flood(5, View, "c", deadline)...),
			work{time.Second, View, "b", quick, quick}, work{2 * time.Second, Upload, "b", quick, quick},
			work{3 * time.Second, Background, "b", quick, quick})},
		{"a slow view goes before slow processing", 2, append(flood(5, Background, "a", minute), work{0, View, "b", time.Second, time.Second},
			work{1100 * time.Millisecond, View, "b", 600 * time.Millisecond, 600 * time.Millisecond})},
		{"processing gives way before a slow view", 2, []work{{0, Background, "a", minute, 0}, {quick, View, "c", deadline, deadline},
			{time.Second, View, "b", quick, quick}}},
		{"preempted work is not preempted again first", 2, []work{{0, View, "a", minute, minute}, {quick, View, "c", minute, 2 * minute},
			{time.Second, View, "b", quick, quick}, {minute - quick, View, "e", minute, 0}, {minute + time.Second, View, "b", quick, quick}}},
		{"no preemption without benefit", 4, append(undisturbed,
			work{time.Second, Background, "b", slowAfter - 1, slowAfter - 1}, work{time.Second + quick, Background, "d", quick, slowAfter})},
		{"one slot", 1, append(flood(2, Background, "a", minute),
			work{time.Second, Background, "b", quick, quick}, work{2 * time.Second, View, "b", quick, quick})},
		{"a new owner has no advantage over others", 1,
			append(slices.Repeat([]work{{0, View, "a", time.Second / 10, 5300 * time.Millisecond}}, 51),
				slices.Repeat([]work{{4950 * time.Millisecond, View, "b", time.Second / 10, 0}}, 20)...)},
		{"a page while one's own document is processed", 2,
			[]work{{0, Background, "a", minute, minute}, {2 * time.Second, View, "a", quick, quick}}},
		{"a small owner's next call", 1, append(flood(3, Background, "a", slowAfter-1),
			work{0, Background, "b", quick, slowAfter + quick}, work{slowAfter + 1, Background, "b", quick, slowAfter},
			work{slowAfter + 1, Background, "b", quick, slowAfter + 2*quick})},
		{"quick again", 2, []work{{0, Upload, "a", time.Second, time.Second}, // a stays slow for another second
			{1900 * time.Millisecond, Upload, "a", quick, 2 * quick}, {1900 * time.Millisecond, Upload, "a", quick, 2 * quick},
			{2100 * time.Millisecond, Upload, "a", quick, quick}, {2100 * time.Millisecond, Upload, "a", quick, quick}}},
		{"slow work has its turn", 2, append(append(flood(1, Background, "a", 3*time.Second), flood(1, Background, "c", 5*time.Second)...),
			// b alone could use all the time of both workers.
			append(flood(500, Background, "b", slowAfter/5), work{0, Background, "a", quick, 40 * time.Second})...)},
	} {
		t.Run(c.name, func(t *testing.T) { simulate(t, c.slots, c.list) })
	}
}
