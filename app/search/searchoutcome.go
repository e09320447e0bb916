package search

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search/query"
	"deedkeep/app/stats"
)

// SearchOutcomes are the values of the search counter: something was found, or nothing;
// the query is invalid; the deadline passed; too many searches were running; there is no
// complete search index; the client left before the response, as type-ahead search does
// at each letter; or a server error.
var SearchOutcomes = []string{searchFound, searchNothing, searchInvalid, searchTimeout, searchBusy, searchNoIndex, searchLeft, searchError}

const (
	searchFound   = "found"
	searchNothing = "nothing"
	searchInvalid = "refused"
	searchTimeout = "deadline"
	searchBusy    = "busy"
	searchNoIndex = "no_index"
	searchLeft    = "left"
	searchError   = "trouble"
)

// searchBuckets are the upper bounds of the histogram of search times, in seconds.
var searchBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}

// searchCounts count searches by outcome, and the time of those that were answered.
type searchCounts struct {
	outcomes stats.Counters
	seconds  *stats.Histogram
}

func newSearchCounts() searchCounts {
	return searchCounts{stats.NewCounters(SearchOutcomes...), stats.NewHistogram(searchBuckets...)}
}

// Counts returns how many searches had each of SearchOutcomes, and the times in seconds
// of those that were answered.
func (s *SearchService) Counts() (outcomes map[string]uint64, seconds stats.Read) {
	return s.counts.outcomes.Read(), s.counts.seconds.Read()
}

func (c searchCounts) add(took time.Duration, found bool, err error) {
	switch kind := errs.KindOf(err); {
	case err == nil:
		c.seconds.Note(took.Seconds())
		if found {
			c.outcomes.Add(searchFound)
			return
		}
		c.outcomes.Add(searchNothing)
	case errors.Is(err, context.Canceled):
		c.outcomes.Add(searchLeft)
	case errors.Is(err, query.ErrDeadline):
		c.outcomes.Add(searchTimeout)
	case errors.Is(err, ErrMany):
		c.outcomes.Add(searchBusy)
	case kind == errs.Unavailable:
		c.outcomes.Add(searchNoIndex)
	case kind == errs.Invalid:
		c.outcomes.Add(searchInvalid)
	default:
		c.outcomes.Add(searchError)
	}
}
