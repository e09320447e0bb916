package query

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"deedkeep/app/search/index"
)

// expiringEngine is an index whose deadline passes after a given number of calls.
type expiringEngine struct {
	*index.Index
	left int
}

func (e *expiringEngine) call() error {
	if e.left--; e.left < 0 {
		return fmt.Errorf("search: %w", context.DeadlineExceeded)
	}
	return nil
}

func (e *expiringEngine) Search(ctx context.Context, q index.Query) (index.Result, error) {
	if err := e.call(); err != nil {
		return index.Result{}, err
	}
	return e.Index.Search(ctx, q)
}

func (e *expiringEngine) DocFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	if err := e.call(); err != nil {
		return nil, err
	}
	return e.Index.DocFreqs(ctx, terms)
}

func (e *expiringEngine) Terms(ctx context.Context, prefix string, limit int) ([]string, error) {
	if err := e.call(); err != nil {
		return nil, err
	}
	return e.Index.Terms(ctx, prefix, limit)
}

// No matter when the deadline passes, the search returns either the hits of the completed stages or
// an error. Later stages never remove hits. An empty result is returned only if the search is
// complete.
func TestDeadlineBetweenStages(t *testing.T) {
	x := newTestIndex(t, library())
	for _, q := range []Query{
		{Text: "smith"}, {Text: "smith jone"}, {Text: "smiht jones"}, {Text: "smiht jonse"}, {Text: `deed "of trust`}, {Text: "smith j"},
		{Text: "bk 1022 pg 31"},
		{Text: "smyth", Offset: 1}, // the page contains only fuzzy hits
	} {
		text := q.Text
		q.Limit = 50
		all, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("Search: %v", err)
		}
		succeeded := false
		for calls := 0; ; calls++ {
			e := &expiringEngine{x.Index, calls}
			a, err := search(t.Context(), e, x.options, q)
			if err != nil && (succeeded || !errors.Is(err, ErrDeadline)) {
				t.Fatalf("search(%q) with time for %d calls = %v, want %v before the first result", text, calls, err, ErrDeadline)
			}
			if succeeded = err == nil; !succeeded {
				continue
			}
			if len(a.Hits) == 0 && len(all.Hits) > 0 {
				t.Fatalf("search(%q) with time for %d calls found no hits, want some of %d", text, calls, len(all.Hits))
			}
			if len(a.Hits) > len(all.Hits) || len(a.Hits) > 0 && !reflect.DeepEqual(a.Hits, all.Hits[:len(a.Hits)]) {
				t.Fatalf("search(%q) with time for %d calls = %v, want the start of %v", text, calls, a.Hits, all.Hits)
			}
			if e.left >= 0 { // the search completed before the deadline
				if !reflect.DeepEqual(a, all) {
					t.Errorf("search(%q) = %v, want %v", text, a, all)
				}
				break
			}
		}
	}
}

// dueContext is a context whose deadline is in the past but whose Err still returns nil.
type dueContext struct{ context.Context }

func (dueContext) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// If little time is left, proximity is not evaluated, and the search still finds all documents.
func TestProximityNeverFailsSearch(t *testing.T) {
	var documents []Document
	for id := range uint64(40) {
		documents = append(documents, Document{Kind: File, ID: id + 1, Text: pages(strings.Repeat("aa ", 5000), "bb aa bb")})
	}
	x := newTestIndex(t, documents)
	for _, text := range []string{"aa bb ", "bb aa ", "aa aa ", strings.Repeat("aa ", 8)} {
		q := Query{Text: text, Limit: 50}
		complete, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("Search: %v", err)
		}
		late, err := x.Search(dueContext{t.Context()}, q)
		if err != nil || len(late.Hits) != 40 || len(complete.Hits) != 40 {
			t.Errorf("search(%q) found %d hits with a near deadline and %d without, %v, want 40", text, len(late.Hits), len(complete.Hits), err)
		}
	}
}
