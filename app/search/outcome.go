package search

import (
	"context"
	"errors"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/search/query"
	"deedkeep/app/stats"
)

// Outcomes are the label values of the search counter: results found, no results, invalid query,
// timeout, too many concurrent searches, no complete search index, client disconnected
// (search-as-you-type cancels a search with each keystroke), and server error.
var Outcomes = []string{outcomeFound, outcomeNothing, outcomeInvalid, outcomeTimeout, outcomeBusy, outcomeNoIndex,
	outcomeCanceled, outcomeError}

const (
	outcomeFound    = "found"
	outcomeNothing  = "no_results"
	outcomeInvalid  = "invalid"
	outcomeTimeout  = "timeout"
	outcomeBusy     = "busy"
	outcomeNoIndex  = "no_index"
	outcomeCanceled = "canceled"
	outcomeError    = "error"
)

// searchBuckets are the upper bounds of the histogram of search times, in seconds.
var searchBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}

// searchMetrics counts searches by outcome and measures the duration of successful ones.
type searchMetrics struct {
	outcomes stats.Counters
	seconds  *stats.Histogram
}

func newSearchMetrics() searchMetrics {
	return searchMetrics{stats.NewCounters(Outcomes...), stats.NewHistogram(searchBuckets...)}
}

// Counts returns the number of searches by outcome, and a histogram of the duration of successful ones
// in seconds.
func (s *Service) Counts() (outcomes map[string]uint64, seconds stats.Snapshot) {
	return s.metrics.outcomes.Read(), s.metrics.seconds.Read()
}

// add counts a search. found says whether the search had results.
func (s searchMetrics) add(took time.Duration, found bool, err error) {
	switch kind := errs.KindOf(err); {
	case err == nil:
		s.seconds.Note(took.Seconds())
		if found {
			s.outcomes.Add(outcomeFound)
			return
		}
		s.outcomes.Add(outcomeNothing)
	case errors.Is(err, context.Canceled):
		s.outcomes.Add(outcomeCanceled)
	case errors.Is(err, query.ErrDeadline):
		s.outcomes.Add(outcomeTimeout)
	case errors.Is(err, ErrTooManySearches):
		s.outcomes.Add(outcomeBusy)
	case kind == errs.Unavailable:
		s.outcomes.Add(outcomeNoIndex)
	case kind == errs.Invalid:
		s.outcomes.Add(outcomeInvalid)
	default:
		s.outcomes.Add(outcomeError)
	}
}
