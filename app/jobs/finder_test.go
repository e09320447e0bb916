package jobs

import (
	"context"
	"errors"
	"testing"

	"deedkeep/app/search/query"
)

// scanPage discards the hits of a page if the deadline passes before it has examined the page.
func TestScanPageStopsAtDeadline(t *testing.T) {
	t.Parallel()
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for name, row := range map[string]struct {
		ctx  context.Context
		hits int
	}{"in time": {t.Context(), 2}, "too late": {expired, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := documentSearch{finder: query.NewFinder("grantor of the parish ", true), words: true}
			enough, err := s.scanPage(row.ctx, 3, "The parish of the grantor.")
			found := s.result()
			if late := row.hits == 0; enough || errors.Is(err, context.DeadlineExceeded) != late || found.More || found.All == late {
				t.Errorf("scanPage = %t, %v, %+v; want an error and no hits only if it is too late", enough, err, found)
			}
			if len(found.Hits) != row.hits || row.hits > 0 && found.Hits[0].Page != 3 {
				t.Errorf("hits = %+v, want %d on page 3", found.Hits, row.hits)
			}
		})
	}
}
