// The functions in this file give tests access to internals.

package integrity

import (
	"context"
	"time"
)

// ScrubStep does what the scrub does next, without waiting, and says how long it would
// have waited, and whether that ended the round.
func (s *Scrubber) ScrubStep(ctx context.Context) (wait time.Duration, ended bool, err error) {
	next, wait, err := s.plan(ctx, 0)
	if err == nil {
		s.step(ctx, next)
		s.saveSome(wait)
	}
	return wait, next.none, err
}

// ScrubAsked verifies what was asked for so far, and says how much that was.
func (s *Scrubber) ScrubAsked(ctx context.Context) (n int) {
	for {
		select {
		case digest := <-s.asked:
			s.answerOne(ctx, digest)
			n++
		default:
			return n
		}
	}
}

// Recheck is what a server does first with what was damaged before.
func (s *Scrubber) Recheck(ctx context.Context) { s.recheck(ctx) }

// Own are the names in a data directory that the survey knows as the vault's.
func Own() []string { return append(append([]string{}, ownFolders...), ownFiles...) }
