package search

import (
	"fmt"
	"time"

	"deedkeep/app/errs"
)

const (
	// immediateRebuilds is the number of times that the index may fail before rebuilds are delayed.
	// Without a delay, a disk that keeps corrupting the index would cause one rebuild after another,
	// each of which reads every record and all document text. The delay starts at minPause and doubles
	// up to maxPause.
	immediateRebuilds = 3
	minPause          = 10 * time.Minute
	maxPause          = time.Hour
	// If there is no failure for resetAfter, the count starts over.
	resetAfter = 24 * time.Hour
)

// rebuildBackoff delays rebuilds after repeated failures of an index, whether it was live or being
// built.
type rebuildBackoff struct {
	count     int
	last      time.Time
	notBefore time.Time   // earliest time of the next rebuild; zero: immediately
	reason    *errs.Error // error reported during the delay
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
	b.reason = errs.NotNow(errs.Rebuilding,
		fmt.Sprintf(`The search index failed %d times (%s). Check the disk. `+
			`The server rebuilds it in %v, or run "deedkeep reindex" now.`,
			b.count, message(reason), pause), reason)
}

// err returns the reason for the delay if no rebuild may start now. Otherwise, it returns nil.
func (b *rebuildBackoff) err(now time.Time) error {
	// If the clock was set back, the delay is not extended.
	if left := b.notBefore.Sub(now); left <= 0 || left > maxPause {
		return nil
	}
	return b.reason
}

// backoffErr returns the reason for the delay if no rebuild may start now. Otherwise, it returns nil.
func (in *Indexer) backoffErr() (err error) {
	in.withLock(func() { err = in.backoff.err(in.options.Now()) })
	return err
}

// dropUnusable drops a failed index. If building a replacement is delayed, it returns the reason. A
// deleted folder is not counted as a failure because administrators may delete it.
func (in *Indexer) dropUnusable(gen *generation, reason error) error {
	in.options.Log.Warn("the search index failed and will be rebuilt", "reason", reason)
	if !in.folderDeleted(gen) {
		in.withLock(func() { in.backoff.add(in.options.Now(), reason) })
	}
	in.drop(gen)
	if in.building != nil {
		return nil // the replacement is already being built
	}
	return in.backoffErr()
}
