// The functions in this file give tests access to internals.

package integrity

import (
	"context"
	"time"
)

// ScrubStep does what the scrub does next, without waiting, and says how long it would
// have waited, and whether that ended the round.
func (s *Scrubber) ScrubStep(ctx context.Context) (wait time.Duration, ended bool, err error) {
	next, wait, err := s.nextItem(ctx, 0)
	if err == nil {
		s.step(ctx, next)
		s.saveIfDue(wait)
	}
	return wait, next.endOfRound, err
}

// ScrubQueued verifies what was asked for so far, and says how much that was.
func (s *Scrubber) ScrubQueued(ctx context.Context) (n int) {
	for {
		select {
		case digest := <-s.queue:
			s.verifyQueued(ctx, digest)
			n++
		default:
			return n
		}
	}
}

// Recheck is what a server does first with what was damaged before.
func (s *Scrubber) Recheck(ctx context.Context) { s.recheckDamaged(ctx) }

// KnownNames are the names in a data directory that the survey knows as the vault's.
func KnownNames() []string { return append(append([]string{}, knownDirs...), knownFiles...) }
