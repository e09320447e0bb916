package search

import (
	"fmt"
	"time"

	"deedkeep/app/errs"
)

const (
	// mostBreaks is how many indexes may break before one is made anew only after a
	// pause, as on a disk that spoils what is written to it: to make one reads every
	// record and text there is. The pause is firstRest, and doubles up to longestRest.
	mostBreaks  = 3
	firstRest   = 10 * time.Minute
	longestRest = time.Hour
	// calmAfter is how long after the last one a break is taken for the first.
	calmAfter = 24 * time.Hour
)

// breaks are the indexes that broke, be it before they were whole or after.
type breaks struct {
	count int
	last  time.Time
	until time.Time   // before which none is begun; zero: at once
	why   *errs.Error // for those who ask meanwhile
}

// add counts one.
func (b *breaks) add(now time.Time, why error) {
	if away := now.Sub(b.last); away < 0 || away > calmAfter {
		*b = breaks{}
	}
	b.last = now
	if b.count++; b.count <= mostBreaks {
		return
	}
	pause := min(firstRest<<min(b.count-mostBreaks-1, 8), longestRest)
	b.until = now.Add(pause)
	b.why = &errs.Error{
		Kind: errs.Unavailable, Err: why,
		Message: fmt.Sprintf(`it broke %d times (%s); see to the disk; it is made anew after a pause of %v, or at once by "deedkeep reindex"`, b.count, message(why), pause),
	}
}

// rest is why none is begun now; nil where one may be.
func (b *breaks) rest(now time.Time) error {
	// A clock that was set back makes no pause longer.
	if left := b.until.Sub(now); left <= 0 || left > longestRest {
		return nil
	}
	return b.why
}

// resting is why no index is begun now; nil where one may be.
func (x *Indexer) resting() (err error) {
	x.set(func() { err = x.breaks.rest(x.clock()) })
	return err
}

// broke takes an index out of use that broke; the error is why none is made in its place
// for now. The deleting of its folder is allowed, and no break.
func (x *Indexer) broke(in *volume, why error) error {
	x.log.Warn("the search index is made anew", "reason", why)
	if !x.deleted(in) {
		x.set(func() { x.breaks.add(x.clock(), why) })
	}
	x.drop(in)
	if x.next != nil {
		return nil // that one is under way
	}
	return x.resting()
}
