package httpx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// evenPool returns a pool in which one owner can use half of the memory.
func evenPool(bytes int64) *memoryPool { return newMemoryPool(bytes, (bytes+1)/2) }

// noDeadline returns a context without a deadline, so waiting never times out.
func noDeadline() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}

// canceledContext returns a canceled context, so waiting ends immediately.
func canceledContext() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx, cancel
}

// If many bodies grow at the same time, all of them complete, no matter how small the pool is. No body is rejected,
// and no two bodies wait for each other. If all goroutines block, synctest fails the test.
func TestPoolNeverDeadlocks(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			p := evenPool(100 + rng.Int64N(400))
			var all sync.WaitGroup
			for range 100 {
				owner, size, step := fmt.Sprint(rng.IntN(4)), 1+rng.Int64N(300), 1+rng.Int64N(60)
				starts, pause := time.Duration(rng.IntN(20)), time.Duration(rng.IntN(3))
				all.Go(func() {
					time.Sleep(starts) // sleeps in fake time
					h := &allocation{}
					p.announce(h, owner, size)
					for n := min(step, size); ; n = min(n+step, size) {
						if err := p.acquire(h, n, noDeadline); err != nil {
							t.Errorf("seed %d: acquire %d of %d bytes: %v", seed, n, size, err)
						}
						if n == size {
							break
						}
						time.Sleep(pause)
					}
					p.release(h)
				})
			}
			all.Wait()
			if p.all.held != 0 || len(p.all.allocations) != 0 || len(p.byOwner) != 0 || len(p.queue) != 0 {
				t.Errorf("seed %d: pool at the end = %+v, owners %v, queue %v; want all empty", seed, p.all, p.byOwner, p.queue)
			}
		})
	}
}

// poolStep is a step of a test. A body grows to a size and either gets the memory or has to wait.
type poolStep struct {
	body, owner string
	claim, to   int64
	waits       bool
}

func TestPoolShares(t *testing.T) {
	for _, row := range []struct {
		name  string
		steps []poolStep
	}{
		{"half for one owner", []poolStep{{"a1", "a", 30, 30, false}, {"a2", "a", 20, 20, false}, {"a3", "a", 1, 1, true},
			{"b1", "b", 50, 50, false}, {"c1", "c", 1, 1, true}}},
		{"received bytes count, claimed bytes don't",
			[]poolStep{{"a1", "a", 40, 1, false}, {"a2", "a", 40, 1, false}, {"a3", "a", 40, 1, false}, {"b1", "b", 40, 40, false}}},
		{"the oldest never waits", []poolStep{{"a1", "a", 40, 1, false}, {"a2", "a", 40, 10, false}, {"a2", "a", 40, 11, true},
			{"a1", "a", 40, 39, false}, {"a1", "a", 40, 40, false}}},
		{"the oldest of all never waits", []poolStep{{"a1", "a", 50, 1, false}, {"b1", "b", 50, 50, false}, {"c1", "c", 50, 1, true},
			{"a1", "a", 50, 50, false}}},
		{"a body larger than half counts as half", []poolStep{{"a1", "a", 90, 90, false}, {"b1", "b", 50, 50, false}}},
		{"an owner that waits doesn't block others",
			[]poolStep{{"a1", "a", 50, 50, false}, {"a2", "a", 50, 1, true}, {"b1", "b", 10, 10, false}, {"c1", "c", 40, 40, false}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, bodies := evenPool(100), map[string]*allocation{}
			for i, step := range row.steps {
				h := bodies[step.body]
				if h == nil {
					h = &allocation{}
					p.announce(h, step.owner, step.claim)
					bodies[step.body] = h
				}
				if err := p.acquire(h, step.to, canceledContext); errors.Is(err, context.Canceled) != step.waits {
					t.Fatalf("step %d, acquire %s to %d: error %v, want to wait: %v", i+1, step.body, step.to, err, step.waits)
				}
			}
		})
	}
}

// Released memory goes first to waiting bodies that already hold memory, oldest first, and then to the queue in
// order. Owners that have reached their maximum are skipped.
func TestPoolServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := evenPool(100)
		var got []string
		acquire := func(name, owner string, h *allocation, to int64) {
			go func() {
				if err := p.acquire(h, to, noDeadline); err != nil {
					t.Errorf("acquire %d bytes for %s: %v", to, name, err)
				}
				got = append(got, name)
			}()
			synctest.Wait()
		}
		newAllocation := func(owner string, claim int64) *allocation {
			h := &allocation{}
			p.announce(h, owner, claim)
			return h
		}
		first, second, other := newAllocation("a", 40), newAllocation("a", 20), newAllocation("b", 50)
		acquire("first", "a", first, 40)
		acquire("second", "a", second, 10)
		acquire("other", "b", other, 50)
		acquire("a waits", "a", newAllocation("a", 35), 35)
		acquire("c waits", "c", newAllocation("c", 5), 5)
		acquire("second grows", "a", second, 20)
		p.release(other)
		synctest.Wait()
		p.release(first)
		synctest.Wait()
		p.release(second)
		synctest.Wait()
		if want := "[first second other c waits second grows a waits]"; fmt.Sprint(got) != want {
			t.Errorf("served in sequence %v, want %v", got, want)
		}
	})
}

// A body that has ended doesn't keep unused memory reserved. A body that stops waiting doesn't block others.
func TestPoolReleasesUnusedMemory(t *testing.T) {
	p := evenPool(100)
	first, second, third := &allocation{}, &allocation{}, &allocation{}
	p.announce(first, "a", 50)
	p.announce(second, "b", 50)
	p.announce(third, "c", 40)
	for _, err := range []error{p.acquire(first, 10, canceledContext), p.acquire(second, 50, canceledContext)} {
		if err != nil {
			t.Fatalf("acquire bytes for the first two bodies: %v", err)
		}
	}
	if err := p.acquire(third, 1, canceledContext); err == nil {
		t.Error("acquire succeeded with memory that the first body may need, want an error")
	}
	p.shrink(first)
	if err := p.acquire(third, 40, canceledContext); err != nil {
		t.Errorf("acquire after the first body has ended: %v", err)
	}
}
