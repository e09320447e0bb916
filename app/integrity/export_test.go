// The functions in this file give tests access to internals.

package integrity

import (
	"context"
	"time"
)

// ScrubStep runs the next step of the scrub without waiting. It returns how long the scrub
// would have waited and whether the step ended the round.
func (s *Scrubber) ScrubStep(ctx context.Context) (wait time.Duration, ended bool, err error) {
	next, wait, err := s.nextItem(ctx, 0)
	if err == nil {
		s.step(ctx, next)
		s.saveIfDue(wait)
	}
	return wait, next.endOfRound, err
}

// ScrubQueued verifies the queued documents and returns how many there were.
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

// Recheck verifies the documents that are known to be damaged, as a server does when it
// starts.
func (s *Scrubber) Recheck(ctx context.Context) { s.recheckDamaged(ctx) }

// KnownNames returns the names that CheckDataDir accepts.
func KnownNames() []string { return append(append([]string{}, knownDirs...), knownFiles...) }
