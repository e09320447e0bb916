package model

import "fmt"

// The kinds of a Flaw.
const (
	DefectChanged = "changed" // an entry is not what was sealed
	DefectMissing = "missing" // an entry was written and is not there
	DefectAdded   = "added"   // an entry is there that was never written
)

// ChainDefect is one thing that does not hold in the log of events: what befell the entries
// First to Last, by the places where they stand, and how it shows.
type ChainDefect struct {
	Kind        string
	First, Last uint64
	Problem     string
}

// Subject names the entries, like "17" or "17-20".
func (f ChainDefect) Subject() string {
	if f.First == f.Last {
		return fmt.Sprint(f.First)
	}
	return fmt.Sprintf("%d-%d", f.First, f.Last)
}

// ChainVerifier holds the entries of the log against each other as they are handed over, in
// the order in which they stand. A hash covers its entry and the hash before it, so
// whoever changes an entry must seal all that follow anew: Chain names the first
// place where that was not done. A log that was sealed anew to its very end holds;
// only a hash that was kept elsewhere tells it from the true one.
type ChainVerifier struct {
	Report func(ChainDefect) // called for each flaw, in order

	Entries  uint64 // handed over so far
	LastSeq  uint64 // where the last of them stands
	LastHash string // its hash; "" where it cannot be read

	unknown bool   // what the next entry was sealed upon cannot be told from the last
	told    uint64 // the last entry that was named as changed
	shift   int64  // how many places the entries stand behind those for which they were sealed
}

// chainReach is how many places around its own an entry is looked for that was moved.
const chainReach = 16

// Add takes the entry that stands at place seq, or the error of reading it.
func (c *ChainVerifier) Add(seq uint64, e Event, err error) {
	c.Entries++
	if seq <= c.LastSeq { // place 0, or a key that is no place
		c.Report(ChainDefect{DefectAdded, seq, seq, fmt.Sprintf("the log has no such place (%v)", err)})
		return
	}
	if seq > c.LastSeq+1 {
		c.Report(ChainDefect{DefectMissing, c.LastSeq + 1, seq - 1, "it was written and is not there"})
		c.unknown = true
	}
	if err != nil {
		c.changed(seq, "it cannot be read: "+err.Error())
		c.step(seq, "", true)
		return
	}
	switch moved, found := c.find(seq, e); {
	case !found:
		c.changed(seq, c.strange(e))
		c.step(seq, e.Hash, true)
		return
	case moved != 0:
		c.moved(seq, moved)
	case e.Seq != seq && e.Seq != c.due(seq):
		c.changed(seq, "its number was changed")
	case !c.unknown && e.Prev != c.LastHash:
		c.changed(c.LastSeq, fmt.Sprintf("entry %d was sealed upon another one", seq))
	}
	c.step(seq, e.Hash, false)
}

func (c *ChainVerifier) step(seq uint64, hash string, unknown bool) {
	c.LastSeq, c.LastHash, c.unknown = seq, hash, unknown
}

// changed names an entry once.
func (c *ChainVerifier) changed(seq uint64, problem string) {
	seq = max(seq, 1) // there is nothing before the first for it to be sealed upon
	if c.told != seq {
		c.told = seq
		c.Report(ChainDefect{DefectChanged, seq, seq, problem})
	}
}

// strange says what is wrong with an entry that does not hold where it stands.
func (c *ChainVerifier) strange(e Event) string {
	if e.holds(e.Seq) {
		return fmt.Sprintf("entry %d stands in its place", e.Seq)
	}
	return "it does not hold to its hash"
}

func (c *ChainVerifier) due(seq uint64) uint64 { return seq - uint64(c.shift) }

// find tells how many places further on than those before it an entry stands.
// Whoever takes one out, or puts one in, may have numbered all that follow anew.
func (c *ChainVerifier) find(seq uint64, e Event) (moved int64, found bool) {
	due := c.due(seq)
	if e.holds(due) {
		return 0, true
	}
	if c.told == c.LastSeq && c.told != 0 {
		return 0, false // not for each of many that were changed
	}
	if e.Seq == due-1 { // it was moved on and kept its number
		return 1, e.holds(e.Seq)
	}
	if e.Seq != seq { // a copy of another, or one that was swapped
		return 0, false
	}
	for by := int64(1); by <= chainReach; by++ {
		if e.holds(due - uint64(by)) {
			return by, true
		}
		if e.holds(due + uint64(by)) {
			return -by, true
		}
	}
	return 0, false
}

// moved tells of entries that were put in, or taken out, in front of one.
func (c *ChainVerifier) moved(seq uint64, by int64) {
	if by > 0 {
		c.Report(ChainDefect{DefectAdded, uint64(max(1, int64(seq)-by)), seq - 1, "those that follow were moved on"})
	} else {
		c.Report(ChainDefect{DefectMissing, seq, seq + uint64(-by) - 1, "those that follow were moved up into its place"})
	}
	c.shift += by
}

// holds reports whether the event's hash is that of its content as entry seq.
func (e Event) holds(seq uint64) bool {
	e.Seq = seq
	again, err := e.WithHash(e.Prev)
	return err == nil && again.Hash == e.Hash
}

// Finish is told how many entries were ever written.
func (c *ChainVerifier) Finish(written uint64) {
	switch {
	case c.LastSeq < written && c.LastSeq != written+uint64(c.shift):
		c.Report(ChainDefect{DefectMissing, c.LastSeq + 1, written, fmt.Sprintf("%d were written", written)})
	case c.LastSeq > written && c.LastSeq != written+uint64(c.shift):
		c.Report(ChainDefect{DefectAdded, written + 1, c.LastSeq, fmt.Sprintf("%d were written", written)})
	}
}
