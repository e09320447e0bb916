package fairqueue_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"deedkeep/app/fairqueue"
)

// An owner with many requests has half of the turns. Others have the rest, and when all turns are taken, an owner with
// one request waits for one turn to end, not for all requests before it.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := errors.New("busy")
		turns := fairqueue.NewTurns(4, busy)
		taken := make(chan string, 100)
		ends := map[string]chan func(){}
		take := func(owner string, n int) {
			if ends[owner] == nil {
				ends[owner] = make(chan func(), 100)
			}
			end := ends[owner]
			for range n {
				go func() {
					done, err := turns.Take(t.Context(), owner)
					if err != nil {
						t.Errorf("Take(%s): %v", owner, err)
						return
					}
					taken <- owner
					end <- done
				}()
			}
			synctest.Wait()
		}
		got := func() (all string) {
			synctest.Wait()
			for len(taken) > 0 {
				all += <-taken
			}
			return all
		}
		take("a", 10)
		take("b", 10)
		if all := got(); all != "aabb" {
			t.Errorf("turns of a and b: got %q, want aabb", all)
		}
		take("c", 1)
		if all := got(); all != "" {
			t.Errorf("all turns are taken: got %q, want none", all)
		}
		(<-ends["a"])()
		if all := got(); all != "c" {
			t.Errorf("next turn: got %q, want c, which has none", all)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.Take(canceled, "d"); !errors.Is(err, context.Canceled) {
			t.Errorf("Take with a canceled context: got %v, want %v", err, context.Canceled)
		}
	drain:
		for range 100 {
			select {
			case done := <-ends["a"]:
				done()
			case done := <-ends["b"]:
				done()
			case done := <-ends["c"]:
				done()
			default:
				break drain
			}
			synctest.Wait()
		}
		if all := got(); len(all) != 16 {
			t.Errorf("the remaining turns: got %d, want 16", len(all))
		}
		take("d", 3)
		if all := got(); all != "dd" {
			t.Errorf("turns of d alone: got %q, want dd", all)
		}
		for range 3 {
			(<-ends["d"])()
			synctest.Wait()
		}
		take("e", 2)
		late, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if _, err := turns.Take(late, "e"); !errors.Is(err, busy) {
			t.Errorf("Take while all turns of the owner are taken: got %v, want %v", err, busy)
		}
		if done, err := turns.Take(late, "f"); err != nil {
			t.Errorf("Take of a free turn after the deadline: got %v", err)
		} else {
			done()
		}
	})
}
