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

// held is an index in which searches stay until they are let go.
type held struct {
	search.Index
	inside chan string   // texts of the searches that came in
	goOn   chan struct{} // one for each
}

func (h held) Search(_ context.Context, q query.Query) (query.Result, error) {
	h.inside <- q.Text
	<-h.goOn
	return query.Result{}, nil
}

// A few searches are in the index at once, and nobody has more than half of the places;
// who waits too long is refused.
func TestConcurrentSearchesAreLimited(t *testing.T) {
	t.Parallel()
	const most, soon, patience = 4, time.Second, 20 * time.Second
	x := open(t, func(o *search.IndexerOptions) { o.MaxConcurrent = most })
	h := held{inside: make(chan string), goOn: make(chan struct{})}
	x.wrapIndexes(func(_ int64, in search.Index) search.Index { h.Index = in; return h })
	x.catchUp()
	var all sync.WaitGroup
	refused := make(chan error, 32)
	ask := func(asker string, times int, wait time.Duration) {
		for range times {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				if err := x.searchAs(ctx, asker); err != nil {
					refused <- fmt.Errorf("%s: %w", asker, err)
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
	ask("greedy", most+1, soon)
	came("greedy", most/2)
	ask("other", most/2, patience)
	came("other", most/2)
	ask("third", 1, soon)
	for range most/2 + 1 + 1 { // of the greedy, and the third
		if err := <-refused; errs.KindOf(err) != errs.Unavailable {
			t.Errorf("who waited too long is told %v", err)
		}
	}
	ask("next", 1, patience)
	h.goOn <- struct{}{}
	came("next", 1)
	for range most {
		h.goOn <- struct{}{}
	}
	all.Wait()
	if len(refused) > 0 {
		t.Error(<-refused)
	}
	// All places are free again; one who leaves while he waits is told so.
	ctx, cancel := context.WithCancel(t.Context())
	ask("greedy", most/2, patience)
	came("greedy", most/2)
	cancel()
	if err := x.searchAs(ctx, "greedy"); !errors.Is(err, context.Canceled) {
		t.Errorf("who left is told %v", err)
	}
	for range most / 2 {
		h.goOn <- struct{}{}
	}
	all.Wait()
}

// asks enters, searches and leaves.
func (h *harness) searchAs(ctx context.Context, asker string) error {
	leave, err := h.Acquire(ctx, asker)
	if err != nil {
		return err
	}
	defer leave()
	_, err = h.Search(ctx, query.Query{Text: asker})
	return err
}
