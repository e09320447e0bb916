package search_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// heldIndex blocks searches until resume receives a value.
type heldIndex struct {
	search.Index
	inside chan string   // texts of the searches that have started
	resume chan struct{} // one value for each search
}

func (h heldIndex) Search(_ context.Context, q query.Query) (query.Result, error) {
	h.inside <- q.Text
	<-h.resume
	return query.Result{}, nil
}

// A client gets at most half of the slots, and a search that waits too long fails.
func TestConcurrentSearchesAreLimited(t *testing.T) {
	t.Parallel()
	const slots, soon, long = 4, time.Second, 20 * time.Second
	x := open(t, func(o *search.IndexerOptions) { o.MaxConcurrent = slots })
	h := heldIndex{inside: make(chan string), resume: make(chan struct{})}
	x.wrapIndexes(func(_ int64, in search.Index) search.Index { h.Index = in; return h })
	x.catchUp()
	var all sync.WaitGroup
	rejected := make(chan error, 32)
	ask := func(client string, times int, wait time.Duration) {
		for range times {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				if err := x.searchAs(ctx, client); err != nil {
					rejected <- fmt.Errorf("%s: %w", client, err)
				}
			})
		}
	}
	came := func(want string, times int) {
		t.Helper()
		for range times {
			if got := <-h.inside; got != want {
				t.Errorf("%s came in, not %s", got, want)
			}
		}
	}
	ask("greedy", slots+1, soon)
	came("greedy", slots/2)
	ask("other", slots/2, long)
	came("other", slots/2)
	ask("third", 1, soon)
	for range slots/2 + 1 + 1 { // those over the limit of greedy, and third
		if err := <-rejected; errs.KindOf(err) != errs.Unavailable {
			t.Errorf("error after waiting too long = %v, want Unavailable", err)
		}
	}
	ask("next", 1, long)
	h.resume <- struct{}{}
	came("next", 1)
	for range slots {
		h.resume <- struct{}{}
	}
	all.Wait()
	if len(rejected) > 0 {
		t.Error(<-rejected)
	}
	// All slots are free again; a client that disconnects while it waits gets its own error.
	ctx, cancel := context.WithCancel(t.Context())
	ask("greedy", slots/2, long)
	came("greedy", slots/2)
	cancel()
	if err := x.searchAs(ctx, "greedy"); !errors.Is(err, context.Canceled) {
		t.Errorf("error after cancellation = %v, want context.Canceled", err)
	}
	for range slots / 2 {
		h.resume <- struct{}{}
	}
	all.Wait()
}

// searchAs acquires a slot for a client, searches and releases the slot.
func (h *harness) searchAs(ctx context.Context, client string) error {
	leave, err := h.Acquire(ctx, client)
	if err != nil {
		return err
	}
	defer leave()
	_, err = h.Search(ctx, query.Query{Text: client})
	return err
}
