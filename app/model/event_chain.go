package model

import "fmt"

// Values of ChainDefect.Kind.
const (
	DefectChanged = "changed" // the entry differs from what was written
	DefectMissing = "missing" // an entry that was written is gone
	DefectAdded   = "added"   // an entry exists that was never written
)

// ChainDefect is an inconsistency of the audit log. It affects the entries stored at positions
// First through Last.
type ChainDefect struct {
	Kind        string
	First, Last uint64
	Problem     string
}

// Subject returns the affected entry numbers, such as "17" or "17-20".
func (c ChainDefect) Subject() string {
	if c.First == c.Last {
		return fmt.Sprint(c.First)
	}
	return fmt.Sprintf("%d-%d", c.First, c.Last)
}

// ChainVerifier verifies the hash chain of the audit log. Entries are added in the order in which
// they are stored. Each hash covers its entry and the previous hash, so anyone who changes an
// entry must recompute all later hashes. ChainVerifier reports the first place where that wasn't
// done. It can't detect a change if all later hashes were recomputed. To detect that, compare the
// last hash with one that was saved elsewhere.
type ChainVerifier struct {
	Report func(ChainDefect) // called for each defect, in order

	Entries  uint64 // number of entries added so far
	LastSeq  uint64 // stored position of the last entry
	LastHash string // hash of the last entry; "" if the entry can't be read

	prevUnknown bool   // the next entry's Prev can't be compared with LastHash
	lastChanged uint64 // last entry reported as changed
	shift       int64  // stored position minus original number, if entries were added or removed
}

// maxShift is the maximum number of positions, in either direction, by which a moved entry is
// recognized.
const maxShift = 16

// Add verifies the entry stored at position seq. err is the error from reading the entry, if any.
func (c *ChainVerifier) Add(seq uint64, e Event, err error) {
	c.Entries++
	if seq <= c.LastSeq { // number 0, or a malformed key
		c.Report(ChainDefect{DefectAdded, seq, seq, fmt.Sprintf("unexpected entry (%v)", err)})
		return
	}
	if seq > c.LastSeq+1 {
		c.Report(ChainDefect{DefectMissing, c.LastSeq + 1, seq - 1, "the entry was deleted"})
		c.prevUnknown = true
	}
	if err != nil {
		c.reportChanged(seq, "the entry can't be read: "+err.Error())
		c.advance(seq, "", true)
		return
	}
	switch moved, found := c.locate(seq, e); {
	case !found:
		c.reportChanged(seq, c.describeMismatch(e))
		c.advance(seq, e.Hash, true)
		return
	case moved != 0:
		c.reportMoved(seq, moved)
	case e.Seq != seq && e.Seq != c.expectedSeq(seq):
		c.reportChanged(seq, "the sequence number was changed")
	case !c.prevUnknown && e.Prev != c.LastHash:
		c.reportChanged(c.LastSeq, fmt.Sprintf("the hash doesn't match the previous hash in entry %d", seq))
	}
	c.advance(seq, e.Hash, false)
}

func (c *ChainVerifier) advance(seq uint64, hash string, prevUnknown bool) {
	c.LastSeq, c.LastHash, c.prevUnknown = seq, hash, prevUnknown
}

// reportChanged reports that the entry at seq was changed. It reports an entry only once.
func (c *ChainVerifier) reportChanged(seq uint64, problem string) {
	seq = max(seq, 1) // the first entry has no predecessor
	if c.lastChanged != seq {
		c.lastChanged = seq
		c.Report(ChainDefect{DefectChanged, seq, seq, problem})
	}
}

// describeMismatch explains why an entry doesn't match its position.
func (c *ChainVerifier) describeMismatch(e Event) string {
	if e.hashMatches(e.Seq) {
		return fmt.Sprintf("entry %d is stored at this position", e.Seq)
	}
	return "the hash doesn't match"
}

func (c *ChainVerifier) expectedSeq(seq uint64) uint64 { return seq - uint64(c.shift) }

// locate returns how many positions after its expected position the entry is stored. found is
// false if no position up to maxShift away matches its hash. Anyone who inserted or removed an
// entry may have renumbered all later entries.
func (c *ChainVerifier) locate(seq uint64, e Event) (moved int64, found bool) {
	expected := c.expectedSeq(seq)
	if e.hashMatches(expected) {
		return 0, true
	}
	if c.lastChanged == c.LastSeq && c.lastChanged != 0 {
		return 0, false // don't search again for each entry in a run of changed entries
	}
	if e.Seq == expected-1 { // moved by one, number unchanged
		return 1, e.hashMatches(e.Seq)
	}
	if e.Seq != seq { // a copy of another entry, or swapped with another entry
		return 0, false
	}
	for by := int64(1); by <= maxShift; by++ {
		if e.hashMatches(expected - uint64(by)) {
			return by, true
		}
		if e.hashMatches(expected + uint64(by)) {
			return -by, true
		}
	}
	return 0, false
}

// reportMoved reports entries that were inserted or removed before seq.
func (c *ChainVerifier) reportMoved(seq uint64, by int64) {
	if by > 0 {
		c.Report(ChainDefect{DefectAdded, uint64(max(1, int64(seq)-by)), seq - 1, "later entries have higher numbers than before"})
	} else {
		c.Report(ChainDefect{DefectMissing, seq, seq + uint64(-by) - 1, "later entries have lower numbers than before"})
	}
	c.shift += by
}

// hashMatches reports whether the event's hash is correct for number seq.
func (e Event) hashMatches(seq uint64) bool {
	e.Seq = seq
	rehashed, err := e.WithHash(e.Prev)
	return err == nil && rehashed.Hash == e.Hash
}

// Finish compares the last position with written, the number of entries ever written, and reports
// entries that are missing or were added at the end.
func (c *ChainVerifier) Finish(written uint64) {
	switch {
	case c.LastSeq < written && c.LastSeq != written+uint64(c.shift):
		c.Report(ChainDefect{DefectMissing, c.LastSeq + 1, written, fmt.Sprintf("the log should contain %d entries", written)})
	case c.LastSeq > written && c.LastSeq != written+uint64(c.shift):
		c.Report(ChainDefect{DefectAdded, written + 1, c.LastSeq, fmt.Sprintf("the log should contain %d entries", written)})
	}
}
