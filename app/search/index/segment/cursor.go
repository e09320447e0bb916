package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// None stands for the document behind the last.
const None = ^uint32(0)

// Cursor goes over the documents of one term in one segment, from the latest on, block
// by block. It is in no document until Next or Advance.
type Cursor struct {
	docs [blockDocs]uint32
	held int // of docs
	at   int // in docs
	now  uint32

	postings reader
	watch    *Watch
	entry    Entry
	most     uint32 // documents of the segment
	blocks   int
	block    int  // that is held, or -1
	begun    skip // where it begins, and the document before
	ends     skip
	skips    [skipsHeld * skipSize]byte
	skipFrom int // block of the first in skips
	skipHeld int
	probe    [4]byte

	raw     [mostBlock]byte
	counts  []byte // of raw, where how often each document has the term is told
	counted bool   // times is filled
	times   [blockDocs]uint32
}

const skipsHeld = 32

// Open puts the cursor before the first document of a term of the segment.
func (c *Cursor) Open(s *Segment, e Entry, w *Watch) {
	c.open(&s.streams[streamPostings], e, s.docs, w)
}

// open puts the cursor before the first document of a term.
func (c *Cursor) open(postings reader, e Entry, docs uint32, w *Watch) {
	c.postings, c.watch, c.entry, c.most = postings, w, e, docs
	c.held, c.at, c.block, c.skipHeld, c.now = 0, 0, -1, 0, 0
	c.blocks = int((e.Documents + blockDocs - 1) / blockDocs)
	c.begun, c.ends = skip{}, skip{last: None}
	if e.Documents > docs || e.Documents == 1 && e.doc >= docs {
		w.Fail(fmt.Errorf("%w: documents of a term", ErrDamaged))
		c.blocks = 0
	}
}

// Next goes to the next document and returns it, or None.
func (c *Cursor) Next() uint32 {
	if c.at++; c.at < c.held {
		c.now = c.docs[c.at]
		return c.now
	}
	return c.turn(c.block + 1)
}

// Advance goes to the first document that is d or behind it, and returns it, or None.
func (c *Cursor) Advance(d uint32) uint32 {
	if c.held > 0 && c.now >= d {
		return c.now
	}
	if c.held == 0 || c.docs[c.held-1] < d {
		if c.turn(c.seek(d)) == None {
			return None
		}
		if c.docs[c.held-1] < d { // no skip told that the only block ends before d
			return c.end()
		}
	}
	low, step := c.at, 1
	for low+step < c.held && c.docs[low+step] < d {
		low += step
		step *= 2
	}
	high := min(low+step, c.held-1)
	for low < high {
		middle := (low + high) / 2
		if c.docs[middle] < d {
			low = middle + 1
		} else {
			high = middle
		}
	}
	c.at, c.now = low, c.docs[low]
	return c.now
}

// Doc is the document it is in.
func (c *Cursor) Doc() uint32 { return c.now }

// Documents is how many it goes over, those that are gone among them.
func (c *Cursor) Documents() int { return int(c.entry.Documents) }

// end is behind the last document.
func (c *Cursor) end() uint32 {
	c.held, c.at, c.now, c.block = 1, 0, None, c.blocks
	c.docs[0] = None
	return None
}

// turn reads a block and goes to its first document.
func (c *Cursor) turn(block int) uint32 {
	if block >= c.blocks || !c.watch.block() {
		return c.end()
	}
	if err := c.read(block); err != nil {
		c.watch.Fail(err)
		return c.end()
	}
	c.at, c.now = 0, c.docs[0]
	return c.now
}

func (c *Cursor) read(block int) error {
	if c.entry.Documents == 1 {
		c.block, c.held, c.docs[0] = 0, 1, c.entry.doc
		c.times[0], c.counted = c.entry.times, true
		c.ends.positions = uint64(c.entry.places.length)
		return nil
	}
	if err := c.reach(block); err != nil {
		return err
	}
	n := int64(c.ends.postings) - int64(c.begun.postings)
	if n < 0 || n > mostBlock || int64(c.ends.postings) > c.entry.postings.length {
		return fmt.Errorf("%w: length of a block", ErrDamaged)
	}
	raw := c.raw[:n]
	if err := c.postings.readAt(raw, c.entry.postings.off+int64(c.begun.postings)); err != nil {
		return err
	}
	c.block, c.held = block, min(blockDocs, int(c.entry.Documents)-block*blockDocs)
	c.counted = false
	var err error
	c.counts, err = decodeGaps(raw, c.begun.last, c.docs[:c.held], c.most)
	return err
}

// reach finds where a block begins and ends.
func (c *Cursor) reach(block int) error {
	if c.blocks == 1 {
		c.begun = skip{last: None}
		c.ends = skip{postings: uint32(min(c.entry.postings.length, mostBlock+1)), positions: uint64(c.entry.places.length)}
		return nil
	}
	switch {
	case block == 0:
		c.begun = skip{last: None}
	case block == c.block+1 && c.block >= 0:
		c.begun = c.ends
	default:
		s, err := c.skip(block - 1)
		if err != nil {
			return err
		}
		c.begun = s
	}
	var err error
	c.ends, err = c.skip(block)
	return err
}

// skip returns where a block ends.
func (c *Cursor) skip(block int) (skip, error) {
	if block < c.skipFrom || block >= c.skipFrom+c.skipHeld {
		c.skipFrom, c.skipHeld = block, min(skipsHeld, c.blocks-block)
		off := c.entry.postings.off + c.entry.postings.length - int64(c.blocks-block)*skipSize
		if err := c.postings.readAt(c.skips[:c.skipHeld*skipSize], off); err != nil {
			c.skipHeld = 0
			return skip{}, err
		}
	}
	return parseSkip(c.skips[(block-c.skipFrom)*skipSize:]), nil
}

// last returns the last document of a block.
func (c *Cursor) last(block int) uint32 {
	if block >= c.skipFrom && block < c.skipFrom+c.skipHeld {
		return binary.LittleEndian.Uint32(c.skips[(block-c.skipFrom)*skipSize:])
	}
	b := c.probe[:]
	off := c.entry.postings.off + c.entry.postings.length - int64(c.blocks-block)*skipSize
	if err := c.postings.readAt(b, off); err != nil {
		c.watch.Fail(err)
		return None
	}
	return binary.LittleEndian.Uint32(b)
}

// seek returns the first block behind the one held that may have d.
func (c *Cursor) seek(d uint32) int {
	low := c.block + 1
	if c.blocks < 2 || low >= c.blocks {
		return low
	}
	// Most often it is near: in doubling steps, then by halves.
	high, step := low, 1
	for high < c.blocks && c.last(high) < d {
		low = high + 1
		high += step
		step *= 2
	}
	high = min(high, c.blocks)
	for low < high {
		middle := (low + high) / 2
		if c.last(middle) < d {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// Often returns how often the document has the term.
func (c *Cursor) Often() uint32 {
	if !c.counted {
		c.counted = true
		if _, err := decodeNumbers(c.counts, c.times[:c.held]); err != nil {
			c.watch.Fail(err)
			clear(c.times[:c.held])
		}
	}
	return c.times[c.at]
}

// Watch ends a search that takes too long or meets damage: its cursors read on no
// further, and what they found by then is not answered.
type Watch struct {
	ctx    context.Context
	blocks int
	steps  int // of work since the last look that it led to
	err    error

	bounded bool // it is over work that may be left undone:
	left    int  // steps of it
	until   time.Time
}

// ErrSpent ends a Watch that is bounded: enough was done of what may be left undone.
var ErrSpent = errors.New("enough was done")

// WatchOver returns one that looks at ctx.
func WatchOver(ctx context.Context) Watch { return Watch{ctx: ctx} }

// Bounded bounds it to so many steps of work and, unless that is zero, to a time: then it
// ends with ErrSpent.
func (w *Watch) Bounded(steps int, until time.Time) { w.bounded, w.left, w.until = true, steps, until }

// Err is what ended it, or nil.
func (w *Watch) Err() error { return w.err }

// watched is how many blocks are read between two looks at ctx: some 4,000 documents.
const watched = 32

// block counts a block that is to be read, and tells whether to go on.
func (w *Watch) block() bool {
	if w.blocks++; w.blocks%watched == 0 {
		w.Look()
	}
	return w.err == nil
}

// worked is how many steps are done between two looks at ctx: some 0.01 ms.
const worked = 1 << 13

// Work counts steps that read no block, and tells whether to go on.
func (w *Watch) Work(steps int) bool {
	if w.steps += steps; w.steps >= worked {
		w.left -= w.steps
		w.steps = 0
		w.Look()
	}
	return w.err == nil
}

// Look looks at the context, and at what it is bounded to.
func (w *Watch) Look() {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err == nil && w.bounded && (w.left < 0 || !w.until.IsZero() && !time.Now().Before(w.until)) {
		w.err = ErrSpent
	}
}

// Fail keeps an error, unless there is one.
func (w *Watch) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
