package search

import (
	"fmt"
	"time"

	"deedkeep/app/errs"
)

const (
	// immediateRebuilds is how many indexes may break before one is made anew only after a
	// pause, as on a disk that spoils what is written to it: to make one reads every
	// record and text there is. The pause is minPause, and doubles up to maxPause.
	immediateRebuilds = 3
	minPause          = 10 * time.Minute
	maxPause          = time.Hour
	// resetAfter is how long after the last one a break is taken for the first.
	resetAfter = 24 * time.Hour
)

// rebuildBackoff are the indexes that broke, be it before they were whole or after.
type rebuildBackoff struct {
	count     int
	last      time.Time
	notBefore time.Time   // before which none is begun; zero: at once
	reason    *errs.Error // for those who ask meanwhile
}

// add counts one.
func (b *rebuildBackoff) add(now time.Time, why error) {
	if away := now.Sub(b.last); away < 0 || away > resetAfter {
		*b = rebuildBackoff{}
	}
	b.last = now
	if b.count++; b.count <= immediateRebuilds {
		return
	}
	pause := min(minPause<<min(b.count-immediateRebuilds-1, 8), maxPause)
	b.notBefore = now.Add(pause)
	b.reason = &errs.Error{
		Kind: errs.Unavailable, Err: why,
		Message: fmt.Sprintf(`it broke %d times (%s); see to the disk; it is made anew after a pause of %v, or at once by "deedkeep reindex"`, b.count, message(why), pause),
	}
}

// err is why none is begun now; nil where one may be.
func (b *rebuildBackoff) err(now time.Time) error {
	// A clock that was set back makes no pause longer.
	if left := b.notBefore.Sub(now); left <= 0 || left > maxPause {
		return nil
	}
	return b.reason
}

// backoffErr is why no index is begun now; nil where one may be.
func (x *Indexer) backoffErr() (err error) {
	x.withLock(func() { err = x.backoff.err(x.clock()) })
	return err
}

// dropUnusable takes an index out of use that broke; the error is why none is made in its place
// for now. The deleting of its folder is allowed, and no break.
func (x *Indexer) dropUnusable(in *generation, why error) error {
	x.log.Warn("the search index is made anew", "reason", why)
	if !x.folderDeleted(in) {
		x.withLock(func() { x.backoff.add(x.clock(), why) })
	}
	x.drop(in)
	if x.building != nil {
		return nil // that one is under way
	}
	return x.backoffErr()
}
