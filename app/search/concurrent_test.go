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
	started chan string   // receives the text of each search that has started
	resume  chan struct{} // each value lets one search continue
}

func (h heldIndex) Search(_ context.Context, q query.Query) (query.Result, error) {
	h.started <- q.Text
	<-h.resume
	return query.Result{}, nil
}

// A client gets at most half of the slots. A search that waits too long fails.
func TestConcurrentSearchesAreLimited(t *testing.T) {
	t.Parallel()
	const slots, soon, long = 4, time.Second, 20 * time.Second
	x := open(t, func(o *search.IndexerOptions) { o.MaxConcurrent = slots })
	h := heldIndex{started: make(chan string), resume: make(chan struct{})}
	x.wrapIndexes(func(_ int64, in search.Index) search.Index { h.Index = in; return h })
	x.catchUp()
	var searches sync.WaitGroup
	rejected := make(chan error, 32)
	startSearches := func(client string, count int, wait time.Duration) {
		for range count {
			searches.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				if err := x.searchAs(ctx, client); err != nil {
					rejected <- fmt.Errorf("%s: %w", client, err)
				}
			})
		}
	}
	wantStarted := func(want string, count int) {
		t.Helper()
		for range count {
			if got := <-h.started; got != want {
				t.Errorf("started search = %s, want %s", got, want)
			}
		}
	}
	startSearches("greedy", slots+1, soon)
	wantStarted("greedy", slots/2)
	startSearches("other", slots/2, long)
	wantStarted("other", slots/2)
	startSearches("third", 1, soon)
	for range slots/2 + 1 + 1 { // the excess searches of greedy and the search of third
		if err := <-rejected; errs.KindOf(err) != errs.Unavailable {
			t.Errorf("error after waiting too long = %v, want Unavailable", err)
		}
	}
	startSearches("next", 1, long)
	h.resume <- struct{}{}
	wantStarted("next", 1)
	for range slots {
		h.resume <- struct{}{}
	}
	searches.Wait()
	if len(rejected) > 0 {
		t.Errorf("search failed: %v", <-rejected)
	}
	// All slots are free again. If a client disconnects while its search waits, the search returns
	// context.Canceled.
	ctx, cancel := context.WithCancel(t.Context())
	startSearches("greedy", slots/2, long)
	wantStarted("greedy", slots/2)
	cancel()
	if err := x.searchAs(ctx, "greedy"); !errors.Is(err, context.Canceled) {
		t.Errorf("error after cancellation = %v, want context.Canceled", err)
	}
	for range slots / 2 {
		h.resume <- struct{}{}
	}
	searches.Wait()
}

// searchAs acquires a slot for a client, runs a search, and releases the slot.
func (h *harness) searchAs(ctx context.Context, client string) error {
	release, err := h.Acquire(ctx, client)
	if err != nil {
		return err
	}
	defer release()
	_, err = h.Search(ctx, query.Query{Text: client})
	return err
}
