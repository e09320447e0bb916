package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/document/phrase"
)

// expiringContext is a context whose Err method returns an error after maxCalls calls, as
// if its deadline had passed.
type expiringContext struct {
	context.Context
	calls, maxCalls int
}

func (c *expiringContext) Err() error {
	if c.calls++; c.calls > c.maxCalls {
		return context.DeadlineExceeded
	}
	return nil
}

// scanPage checks the deadline before each phrase. If the deadline has passed, it discards
// the page's hits.
func TestScanPageStopsAtDeadline(t *testing.T) {
	t.Parallel()
	phrases := phrase.Split("grantor of the parish ")
	for maxCalls := range len(phrases) + 1 {
		t.Run(fmt.Sprintf("after %d phrases", maxCalls), func(t *testing.T) {
			t.Parallel()
			f := newFinder(strings.Join(phrases, " "), phrases)
			ctx := &expiringContext{Context: t.Context(), maxCalls: maxCalls}
			enough, err := f.scanPage(ctx, 3, "The parish of the grantor.")
			if enough {
				t.Error("scanPage = enough, want more pages")
			}
			late := maxCalls < len(phrases)
			if got := errors.Is(err, context.DeadlineExceeded); got != late {
				t.Errorf("scanPage: %v, want deadline exceeded: %v", err, late)
			}
			hits, more := f.results()
			if noHits := len(hits) == 0; noHits != late || more {
				t.Errorf("results = %d hits, more %v, want hits %v, more false", len(hits), more, !late)
			}
			if slices.ContainsFunc(hits, func(h Hit) bool { return h.Page != 3 }) {
				t.Errorf("hits = %+v, want page 3 only", hits)
			}
			if ctx.calls > maxCalls+1 {
				t.Errorf("calls of ctx.Err = %d, want at most %d", ctx.calls, maxCalls+1)
			}
		})
	}
}
