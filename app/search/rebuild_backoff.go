package search

import (
	"fmt"
	"time"

	"deedkeep/app/errs"
)

const (
	// immediateRebuilds is how many times the index may fail before rebuilds are delayed. A rebuild
	// reads every record and document text, so a disk that keeps corrupting the index must not cause
	// one after another. The delay starts at minPause and doubles up to maxPause.
	immediateRebuilds = 3
	minPause          = 10 * time.Minute
	maxPause          = time.Hour
	// resetAfter is the time without a failure after which the count starts over.
	resetAfter = 24 * time.Hour
)

// rebuildBackoff delays rebuilds after repeated failures of the index, live or under construction.
type rebuildBackoff struct {
	count     int
	last      time.Time
	notBefore time.Time   // the next rebuild starts no earlier; zero: immediately
	reason    *errs.Error // reported during the delay
}

// add counts a failure.
func (b *rebuildBackoff) add(now time.Time, reason error) {
	if elapsed := now.Sub(b.last); elapsed < 0 || elapsed > resetAfter {
		*b = rebuildBackoff{}
	}
	b.last = now
	if b.count++; b.count <= immediateRebuilds {
		return
	}
	pause := min(minPause<<min(b.count-immediateRebuilds-1, 8), maxPause)
	b.notBefore = now.Add(pause)
	b.reason = &errs.Error{
		Kind: errs.Unavailable, Err: reason,
		Message: fmt.Sprintf(`it broke %d times (%s); see to the disk; it is made anew after a pause of %v, or at once by "deedkeep reindex"`,
			b.count, message(reason), pause),
	}
}

// err returns the reason if no rebuild may start now, or nil if one may.
func (b *rebuildBackoff) err(now time.Time) error {
	// Setting the clock back does not extend the delay.
	if left := b.notBefore.Sub(now); left <= 0 || left > maxPause {
		return nil
	}
	return b.reason
}

// backoffErr returns the reason if no rebuild may start now, or nil if one may.
func (x *Indexer) backoffErr() (err error) {
	x.withLock(func() { err = x.backoff.err(x.clock()) })
	return err
}

// dropUnusable drops a failed index. It returns the reason if the replacement is delayed. A deleted
// folder does not count as a failure: administrators may delete it.
func (x *Indexer) dropUnusable(gen *generation, reason error) error {
	x.log.Warn("the search index is made anew", "reason", reason)
	if !x.folderDeleted(gen) {
		x.withLock(func() { x.backoff.add(x.clock(), reason) })
	}
	x.drop(gen)
	if x.building != nil {
		return nil // the replacement is being built already
	}
	return x.backoffErr()
}
