package jobs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/document/phrase"
)

// ended is a context that has ended when it was looked at so often.
type ended struct {
	context.Context
	looks, most int
}

func (e *ended) Err() error {
	if e.looks++; e.looks > e.most {
		return context.DeadlineExceeded
	}
	return nil
}

// A page is looked through for one phrase after the other, as long as there is time; one
// that there is no time for does not count.
func TestAPageIsLookedThroughWhileThereIsTime(t *testing.T) {
	t.Parallel()
	each := phrase.Split("grantor of the parish ")
	for most := range len(each) + 1 {
		s := newFinder(strings.Join(each, " "), each)
		e := &ended{Context: t.Context(), most: most}
		enough, err := s.scanPage(e, 3, "The parish of the grantor.")
		hits, more := s.results()
		if late := most < len(each); late != errors.Is(err, context.DeadlineExceeded) || late != (len(hits) == 0) || enough || more {
			t.Errorf("time for %d phrases of %d: %d hits, %v, %v, %v", most, len(each), len(hits), enough, more, err)
		}
		if other := slices.ContainsFunc(hits, func(s Hit) bool { return s.Page != 3 }); other || e.looks > most+1 {
			t.Errorf("%+v after %d looks", hits, e.looks)
		}
	}
}
