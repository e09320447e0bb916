package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deedkeep/app/decode"
)

// Held is how many bytes of its two parts a room has given.
func (r *Room) Held() (small, large int64) {
	held := func(p *pool) int64 {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.all.held
	}
	return held(r.small), held(r.large)
}

// Decoding takes all memory for decoding, until it is called.
func (r *Room) Decoding(ctx context.Context) (release func()) {
	s := &share{room: r, owner: "other"}
	if err := s.decode(ctx, r.decoded.each); err != nil {
		panic(err)
	}
	return s.release
}

func evenPool(bytes int64) *pool { return newPool(bytes, (bytes+1)/2) }

func endless() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}

func now() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx, cancel
}

// Bodies that all grow at the same time all come to their end, however little there is:
// none is refused, and none waits for another that waits for it. A bubble in which all
// wait ends the test.
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
					time.Sleep(starts) // of the bubble's clock
					h := &hold{}
					p.claim(h, owner, size)
					for n := min(step, size); ; n = min(n+step, size) {
						if err := p.grow(h, n, endless); err != nil {
							t.Errorf("seed %d: a body of %d: %v", seed, size, err)
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
			if p.all.held != 0 || len(p.all.holds) != 0 || len(p.of) != 0 || len(p.queue) != 0 {
				t.Errorf("seed %d: at the end %+v, owners %v, queue %v", seed, p.all, p.of, p.queue)
			}
		})
	}
}

// poolStep is one step of a test: a body grows to a size, and gets the bytes or has to wait.
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
		{"half for one owner", []poolStep{{"a1", "a", 30, 30, false}, {"a2", "a", 20, 20, false}, {"a3", "a", 1, 1, true}, {"b1", "b", 50, 50, false}, {"c1", "c", 1, 1, true}}},
		{"bytes that came count, not those to come", []poolStep{{"a1", "a", 40, 1, false}, {"a2", "a", 40, 1, false}, {"a3", "a", 40, 1, false}, {"b1", "b", 40, 40, false}}},
		{"the oldest never waits", []poolStep{{"a1", "a", 40, 1, false}, {"a2", "a", 40, 10, false}, {"a2", "a", 40, 11, true}, {"a1", "a", 40, 39, false}, {"a1", "a", 40, 40, false}}},
		{"the oldest of all never waits", []poolStep{{"a1", "a", 50, 1, false}, {"b1", "b", 50, 50, false}, {"c1", "c", 50, 1, true}, {"a1", "a", 50, 50, false}}},
		{"a body larger than half counts as half", []poolStep{{"a1", "a", 90, 90, false}, {"b1", "b", 50, 50, false}}},
		{"an owner that waits holds no one up", []poolStep{{"a1", "a", 50, 50, false}, {"a2", "a", 50, 1, true}, {"b1", "b", 10, 10, false}, {"c1", "c", 40, 40, false}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, bodies := evenPool(100), map[string]*hold{}
			for i, step := range row.steps {
				h := bodies[step.body]
				if h == nil {
					h = &hold{}
					p.claim(h, step.owner, step.claim)
					bodies[step.body] = h
				}
				if err := p.grow(h, step.to, now); errors.Is(err, context.Canceled) != step.waits {
					t.Fatalf("step %d, %s to %d: %v, want to wait: %v", i+1, step.body, step.to, err, step.waits)
				}
			}
		})
	}
}

// What goes back is given to those that wait: the oldest bodies first, then the queue in
// its order, past those whose owner has its half.
func TestPoolServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := evenPool(100)
		var got []string
		take := func(name, owner string, h *hold, to int64) {
			go func() {
				if err := p.grow(h, to, endless); err != nil {
					t.Error(err)
				}
				got = append(got, name)
			}()
			synctest.Wait()
		}
		hold := func(owner string, claim int64) *hold {
			h := &hold{}
			p.claim(h, owner, claim)
			return h
		}
		first, second, other := hold("a", 40), hold("a", 20), hold("b", 50)
		take("first", "a", first, 40)
		take("second", "a", second, 10)
		take("other", "b", other, 50)
		take("a waits", "a", hold("a", 35), 35)
		take("c waits", "c", hold("c", 5), 5)
		take("second grows", "a", second, 20)
		p.release(other)
		synctest.Wait()
		p.release(first)
		synctest.Wait()
		p.release(second)
		synctest.Wait()
		if want := "[first second other c waits second grows a waits]"; fmt.Sprint(got) != want {
			t.Errorf("in the order %v, want %v", got, want)
		}
	})
}

// A body that has ended keeps no memory free for bytes that will not come, and one that
// gave up waiting holds no one up.
func TestPoolSettles(t *testing.T) {
	p := evenPool(100)
	first, second, third := &hold{}, &hold{}, &hold{}
	p.claim(first, "a", 50)
	p.claim(second, "b", 50)
	p.claim(third, "c", 40)
	for _, err := range []error{p.grow(first, 10, now), p.grow(second, 50, now)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.grow(third, 1, now); err == nil {
		t.Error("a byte that the first may need was given")
	}
	p.settle(first)
	if err := p.grow(third, 40, now); err != nil {
		t.Errorf("after the first had its end: %v", err)
	}
}

// What decoding takes is what it is charged with, at most: everything that is allocated
// counts, whether it is kept or not.
func TestDecodedCost(t *testing.T) {
	const members, slack = 20_000, 32 << 10 // large allocations are rounded up
	repeat := func(text string) string { return strings.Repeat(text, members-1) }
	keys := func(value string) string {
		var b strings.Builder
		for i := range members {
			fmt.Fprintf(&b, `,"%05d":%s`, i, value)
		}
		return b.String()[1:]
	}
	for _, row := range []struct{ name, body string }{
		{"an order", `{"order_number":"T-1","city":"Salem"}`},
		{"members", "{" + keys("1") + "}"},
		{"long members", "{" + keys(`"`+strings.Repeat("v", 100)+`"`) + "}"},
		{"custom fields", `{"custom_fields":{` + keys("1") + "}}"},
		{"an array", "{\"custom_fields\":[" + repeat("0,") + "0]}"},
		{"deep arrays", "{\"custom_fields\":[" + strings.Repeat(strings.Repeat("[", 20)+strings.Repeat("]", 20)+",", members/20) + "[]]}"},
		{"a string", `{"order_number":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"an escaped string", `{"order_number":"\n` + strings.Repeat("x", 1<<20) + `"}`},
		{"pairs", strings.Repeat("a=b+&", members)},
	} {
		t.Run(row.name, func(t *testing.T) {
			raw := []byte(row.body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if raw[0] == '{' {
				sent, err := decode.Object(raw)
				if err != nil {
					t.Fatal(err)
				}
				input(sent["order_number"])
				custom(sent["custom_fields"])
			} else if _, err := decode.ParseForm(raw); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if took, cost := int64(after.TotalAlloc-before.TotalAlloc), decodedCost(raw); took > cost+slack {
				t.Errorf("%d bytes were allocated, charged are %d", took, cost)
			}
		})
	}
}
