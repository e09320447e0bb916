package vaulttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/search"
	"deedkeep/app/search/query"
)

// SearchHits returns the records that a full-text search finds, each as "kind id", sorted.
func SearchHits(t testing.TB, v *instance.Instance, text string) (hits []string, err error) {
	t.Helper()
	result, err := v.Search.Index.Search(t.Context(), query.Query{Text: text, Limit: 100})
	for _, h := range result.Hits {
		hits = append(hits, fmt.Sprint(h.Kind, " ", h.ID))
	}
	slices.Sort(hits)
	return hits, err
}

// WaitSearchHits repeats a search until it returns the wanted hits, for up to 20 seconds. It returns how long that
// took.
func WaitSearchHits(t testing.TB, v *instance.Instance, text string, want ...string) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		got, err := SearchHits(t, v, text)
		if err == nil && slices.Equal(got, want) {
			return time.Since(start)
		}
		if time.Since(start) > 20*time.Second {
			t.Fatalf("search %q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

// WaitIndexed waits until the search index contains all changes.
func WaitIndexed(t testing.TB, v *instance.Instance) search.State {
	t.Helper()
	s, err := v.Search.Await(t.Context(), func(uint64, uint64) {})
	for n := 0; err == nil && s.PendingChanges > 0 && n < 100; n++ { // processing documents may have added changes
		s, err = v.Search.Await(t.Context(), func(uint64, uint64) {})
	}
	if err != nil || !s.Ready || s.Building || s.PendingChanges != 0 || s.Failure != "" {
		t.Fatalf("search index: got %+v, %v, want ready without pending changes", s, err)
	}
	return s
}

// WaitTextsRebuilt waits until the search index contains all changes and the text of every document is stored.
func WaitTextsRebuilt(t *testing.T, v *instance.Instance) {
	t.Helper()
	Eventually(t, "all texts", func() bool {
		queue := Status(t, v).Queue // first, because a task that ends adds a change
		s, err := v.Search.State(t.Context())
		if err != nil {
			t.Fatalf("state of the search index: %v", err)
		}
		return s.Ready && !s.Building && s.PendingChanges == 0 && s.MissingText == 0 && queue == 0
	})
}

// FormatFound formats each hit as "kind id field value". For an exact match, " exactly" follows.
func FormatFound(found search.Groups) (list []string) {
	for _, g := range found {
		for _, h := range g.Hits {
			exact := ""
			if h.Exact {
				exact = " exactly"
			}
			list = append(list, fmt.Sprintf("%s %d %s %s%s", h.Kind, h.ID, h.Field, h.Value, exact))
		}
	}
	return list
}
