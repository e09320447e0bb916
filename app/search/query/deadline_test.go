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

// ending is an engine whose time is over after so many calls.
type ending struct {
	*index.Index
	left int
}

func (e *ending) call() error {
	if e.left--; e.left < 0 {
		return fmt.Errorf("search: %w", context.DeadlineExceeded)
	}
	return nil
}

func (e *ending) Search(ctx context.Context, q index.Query) (index.Result, error) {
	if err := e.call(); err != nil {
		return index.Result{}, err
	}
	return e.Index.Search(ctx, q)
}

func (e *ending) DocFreqs(ctx context.Context, terms []string) (map[string]int, error) {
	if err := e.call(); err != nil {
		return nil, err
	}
	return e.Index.DocFreqs(ctx, terms)
}

func (e *ending) Terms(ctx context.Context, prefix string, limit int) ([]string, error) {
	if err := e.call(); err != nil {
		return nil, err
	}
	return e.Index.Terms(ctx, prefix, limit)
}

// Wherever the time ends, there is the answer as it was typed, with what later stages
// had put behind it, or there is none: once it has hits, no later stage costs them, and
// before that it is not said that there is nothing.
func TestTimeEndsInBetween(t *testing.T) {
	x := indexOf(t, library())
	for _, q := range []Query{
		{Text: "smith"}, {Text: "smith jone"}, {Text: "smiht jones"}, {Text: "smiht jonse"}, {Text: `deed "of trust`}, {Text: "smith j"}, {Text: "bk 1022 pg 31"},
		{Text: "smyth", Offset: 1}, // all of the page comes of a typing error
	} {
		text := q.Text
		q.Limit = 50
		all, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		there := false
		for calls := 0; ; calls++ {
			e := &ending{x.engine, calls}
			a, err := search(t.Context(), e, x.options, q)
			if err != nil && (there || !errors.Is(err, ErrDeadline)) {
				t.Fatalf("%q, time for %d calls: %v", text, calls, err)
			}
			if there = err == nil; !there {
				continue
			}
			if len(a.Hits) == 0 && len(all.Hits) > 0 {
				t.Fatalf("%q, time for %d calls: nothing is found of %d", text, calls, len(all.Hits))
			}
			if len(a.Hits) > len(all.Hits) || len(a.Hits) > 0 && !reflect.DeepEqual(a.Hits, all.Hits[:len(a.Hits)]) {
				t.Fatalf("%q, time for %d calls: %v of %v", text, calls, a.Hits, all.Hits)
			}
			if e.left >= 0 { // it was enough
				if !reflect.DeepEqual(a, all) {
					t.Errorf("%q: %v, want %v", text, a, all)
				}
				break
			}
		}
	}
}

// due is a context that would end by now, and has not ended.
type due struct{ context.Context }

func (due) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// That words stand together is left out where there is no time for it.
func TestNearNeverCostsTheAnswer(t *testing.T) {
	var documents []Document
	for id := range uint64(40) {
		documents = append(documents, Document{Kind: File, ID: id + 1, Text: pages(strings.Repeat("aa ", 5000), "bb aa bb")})
	}
	x := indexOf(t, documents)
	for _, text := range []string{"aa bb ", "bb aa ", "aa aa ", strings.Repeat("aa ", 8)} {
		q := Query{Text: text, Limit: 50}
		whole, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		late, err := x.Search(due{t.Context()}, q)
		if err != nil || len(late.Hits) != 40 || len(whole.Hits) != 40 {
			t.Errorf("%q: %d hits of %d, %v", text, len(late.Hits), len(whole.Hits), err)
		}
	}
}
