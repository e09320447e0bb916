package vault_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"deedkeep/app/search"
	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// held is an index in which searches stay until they are let go.
type held struct {
	vault.WordIndex
	inside chan string   // texts of the searches that came in
	goOn   chan struct{} // one for each
}

func (h held) Search(_ context.Context, q search.Query) (search.Answer, error) {
	h.inside <- q.Text
	<-h.goOn
	return search.Answer{}, nil
}

// A few searches are in the index at once, and nobody has more than half of the places;
// who waits too long is refused.
func TestSearchesAtOnce(t *testing.T) {
	t.Parallel()
	const most, deadline = 4, time.Second
	v, _ := opened(t, func(o *vault.Options) { o.Settings.Search = vault.SearchSettings{AtOnce: most, Deadline: deadline} })
	h := held{inside: make(chan string), goOn: make(chan struct{})}
	v.WrapWords(func(in vault.WordIndex) vault.WordIndex { h.WordIndex = in; return h })
	indexes(t, v)
	var all sync.WaitGroup
	refused := make(chan error, 32)
	ask := func(actor title.Actor, times int) {
		for range times {
			all.Go(func() {
				if _, err := v.Search(t.Context(), actor, vault.SearchQuery{Text: actor.Name}); err != nil {
					refused <- fmt.Errorf("%s: %w", actor.Name, err)
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
	ask(title.Actor{Kind: title.ByKey, ID: 7, Name: "greedy"}, most+1)
	came("greedy", most/2)
	ask(title.Actor{Kind: title.ByUser, ID: 7, Name: "other"}, most/2)
	came("other", most/2)
	ask(title.Actor{Kind: title.ByUser, ID: 8, Name: "third"}, 1)
	for range most/2 + 1 + 1 { // of the greedy, and the third
		kind(t, "full", <-refused, title.Closing)
	}
	ask(title.Actor{Kind: title.ByUser, ID: 9, Name: "next"}, 1)
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
	ask(title.Actor{Kind: title.ByKey, ID: 7, Name: "greedy"}, most/2)
	came("greedy", most/2)
	cancel()
	if _, err := v.Search(ctx, title.Actor{Kind: title.ByKey, ID: 7}, vault.SearchQuery{Text: "gone"}); title.KindOf(err) == title.Closing {
		t.Errorf("who left is told %v", err)
	}
	for range most / 2 {
		h.goOn <- struct{}{}
	}
	all.Wait()
}
