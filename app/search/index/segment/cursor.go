package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// NoMoreDocs stands for the document behind the last.
const NoMoreDocs = ^uint32(0)

// Cursor goes over the documents of one term in one segment, from the latest on, block
// by block. It is in no document until Next or Advance.
type Cursor struct {
	docs     [blockSize]uint32
	blockLen int // of docs
	index    int // in docs
	doc      uint32

	postings   byteReader
	budget     *Budget
	entry      Entry
	maxDoc     uint32 // documents of the segment
	numBlocks  int
	block      int  // that is held, or -1
	blockStart skip // where it begins, and the document before
	blockEnd   skip
	skips      [maxSkips * skipSize]byte
	firstSkip  int // block of the first in skips
	numSkips   int
	probe      [4]byte

	raw          [maxBlockBytes]byte
	rawFreqs     []byte // of raw, where how often each document has the term is told
	freqsDecoded bool   // times is filled
	freqs        [blockSize]uint32
}

const maxSkips = 32

// Open puts the cursor before the first document of a term of the segment.
func (c *Cursor) Open(s *Segment, e Entry, w *Budget) {
	c.open(&s.streams[streamPostings], e, s.docs, w)
}

// open puts the cursor before the first document of a term.
func (c *Cursor) open(postings byteReader, e Entry, docs uint32, w *Budget) {
	c.postings, c.budget, c.entry, c.maxDoc = postings, w, e, docs
	c.blockLen, c.index, c.block, c.numSkips, c.doc = 0, 0, -1, 0, 0
	c.numBlocks = int((e.DocFreq + blockSize - 1) / blockSize)
	c.blockStart, c.blockEnd = skip{}, skip{lastDoc: NoMoreDocs}
	if e.DocFreq > docs || e.DocFreq == 1 && e.doc >= docs {
		w.Fail(fmt.Errorf("%w: documents of a term", ErrDamaged))
		c.numBlocks = 0
	}
}

// Next goes to the next document and returns it, or None.
func (c *Cursor) Next() uint32 {
	if c.index++; c.index < c.blockLen {
		c.doc = c.docs[c.index]
		return c.doc
	}
	return c.openBlock(c.block + 1)
}

// Advance goes to the first document that is d or behind it, and returns it, or None.
func (c *Cursor) Advance(d uint32) uint32 {
	if c.blockLen > 0 && c.doc >= d {
		return c.doc
	}
	if c.blockLen == 0 || c.docs[c.blockLen-1] < d {
		if c.openBlock(c.seekBlock(d)) == NoMoreDocs {
			return NoMoreDocs
		}
		if c.docs[c.blockLen-1] < d { // no skip told that the only block ends before d
			return c.exhaust()
		}
	}
	low, step := c.index, 1
	for low+step < c.blockLen && c.docs[low+step] < d {
		low += step
		step *= 2
	}
	high := min(low+step, c.blockLen-1)
	for low < high {
		middle := (low + high) / 2
		if c.docs[middle] < d {
			low = middle + 1
		} else {
			high = middle
		}
	}
	c.index, c.doc = low, c.docs[low]
	return c.doc
}

// Doc is the document it is in.
func (c *Cursor) Doc() uint32 { return c.doc }

// DocFreq is how many it goes over, those that are gone among them.
func (c *Cursor) DocFreq() int { return int(c.entry.DocFreq) }

// exhaust is behind the last document.
func (c *Cursor) exhaust() uint32 {
	c.blockLen, c.index, c.doc, c.block = 1, 0, NoMoreDocs, c.numBlocks
	c.docs[0] = NoMoreDocs
	return NoMoreDocs
}

// openBlock reads a block and goes to its first document.
func (c *Cursor) openBlock(block int) uint32 {
	if block >= c.numBlocks || !c.budget.spendBlock() {
		return c.exhaust()
	}
	if err := c.readBlock(block); err != nil {
		c.budget.Fail(err)
		return c.exhaust()
	}
	c.index, c.doc = 0, c.docs[0]
	return c.doc
}

func (c *Cursor) readBlock(block int) error {
	if c.entry.DocFreq == 1 {
		c.block, c.blockLen, c.docs[0] = 0, 1, c.entry.doc
		c.freqs[0], c.freqsDecoded = c.entry.freq, true
		c.blockEnd.positionsEnd = uint64(c.entry.positions.length)
		return nil
	}
	if err := c.locateBlock(block); err != nil {
		return err
	}
	n := int64(c.blockEnd.postingsEnd) - int64(c.blockStart.postingsEnd)
	if n < 0 || n > maxBlockBytes || int64(c.blockEnd.postingsEnd) > c.entry.postings.length {
		return fmt.Errorf("%w: length of a block", ErrDamaged)
	}
	raw := c.raw[:n]
	if err := c.postings.readAt(raw, c.entry.postings.off+int64(c.blockStart.postingsEnd)); err != nil {
		return err
	}
	c.block, c.blockLen = block, min(blockSize, int(c.entry.DocFreq)-block*blockSize)
	c.freqsDecoded = false
	var err error
	c.rawFreqs, err = decodeGaps(raw, c.blockStart.lastDoc, c.docs[:c.blockLen], c.maxDoc)
	return err
}

// locateBlock finds where a block begins and ends.
func (c *Cursor) locateBlock(block int) error {
	if c.numBlocks == 1 {
		c.blockStart = skip{lastDoc: NoMoreDocs}
		c.blockEnd = skip{postingsEnd: uint32(min(c.entry.postings.length, maxBlockBytes+1)), positionsEnd: uint64(c.entry.positions.length)}
		return nil
	}
	switch {
	case block == 0:
		c.blockStart = skip{lastDoc: NoMoreDocs}
	case block == c.block+1 && c.block >= 0:
		c.blockStart = c.blockEnd
	default:
		s, err := c.skipAt(block - 1)
		if err != nil {
			return err
		}
		c.blockStart = s
	}
	var err error
	c.blockEnd, err = c.skipAt(block)
	return err
}

// skipAt returns where a block ends.
func (c *Cursor) skipAt(block int) (skip, error) {
	if block < c.firstSkip || block >= c.firstSkip+c.numSkips {
		c.firstSkip, c.numSkips = block, min(maxSkips, c.numBlocks-block)
		off := c.entry.postings.off + c.entry.postings.length - int64(c.numBlocks-block)*skipSize
		if err := c.postings.readAt(c.skips[:c.numSkips*skipSize], off); err != nil {
			c.numSkips = 0
			return skip{}, err
		}
	}
	return parseSkip(c.skips[(block-c.firstSkip)*skipSize:]), nil
}

// lastDoc returns the last document of a block.
func (c *Cursor) lastDoc(block int) uint32 {
	if block >= c.firstSkip && block < c.firstSkip+c.numSkips {
		return binary.LittleEndian.Uint32(c.skips[(block-c.firstSkip)*skipSize:])
	}
	b := c.probe[:]
	off := c.entry.postings.off + c.entry.postings.length - int64(c.numBlocks-block)*skipSize
	if err := c.postings.readAt(b, off); err != nil {
		c.budget.Fail(err)
		return NoMoreDocs
	}
	return binary.LittleEndian.Uint32(b)
}

// seekBlock returns the first block behind the one held that may have d.
func (c *Cursor) seekBlock(d uint32) int {
	low := c.block + 1
	if c.numBlocks < 2 || low >= c.numBlocks {
		return low
	}
	// Most often it is near: in doubling steps, then by halves.
	high, step := low, 1
	for high < c.numBlocks && c.lastDoc(high) < d {
		low = high + 1
		high += step
		step *= 2
	}
	high = min(high, c.numBlocks)
	for low < high {
		middle := (low + high) / 2
		if c.lastDoc(middle) < d {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// Freq returns how often the document has the term.
func (c *Cursor) Freq() uint32 {
	if !c.freqsDecoded {
		c.freqsDecoded = true
		if _, err := decodeUvarints(c.rawFreqs, c.freqs[:c.blockLen]); err != nil {
			c.budget.Fail(err)
			clear(c.freqs[:c.blockLen])
		}
	}
	return c.freqs[c.index]
}

// Budget ends a search that takes too long or meets damage: its cursors read on no
// further, and what they found by then is not answered.
type Budget struct {
	ctx             context.Context
	blocks          int
	stepsSinceCheck int // of work since the last look that it led to
	err             error

	limited   bool // it is over work that may be left undone:
	stepsLeft int  // steps of it
	deadline  time.Time
}

// ErrBudgetSpent ends a Watch that is bounded: enough was done of what may be left undone.
var ErrBudgetSpent = errors.New("enough was done")

// NewBudget returns one that looks at ctx.
func NewBudget(ctx context.Context) Budget { return Budget{ctx: ctx} }

// Limit bounds it to so many steps of work and, unless that is zero, to a time: then it
// ends with ErrBudgetSpent.
func (w *Budget) Limit(steps int, until time.Time) {
	w.limited, w.stepsLeft, w.deadline = true, steps, until
}

// Err is what ended it, or nil.
func (w *Budget) Err() error { return w.err }

// blocksPerCheck is how many blocks are read between two looks at ctx: some 4,000 documents.
const blocksPerCheck = 32

// spendBlock counts a block that is to be read, and tells whether to go on.
func (w *Budget) spendBlock() bool {
	if w.blocks++; w.blocks%blocksPerCheck == 0 {
		w.Check()
	}
	return w.err == nil
}

// stepsPerCheck is how many steps are done between two looks at ctx: some 0.01 ms.
const stepsPerCheck = 1 << 13

// Spend counts steps that read no block, and tells whether to go on.
func (w *Budget) Spend(steps int) bool {
	if w.stepsSinceCheck += steps; w.stepsSinceCheck >= stepsPerCheck {
		w.stepsLeft -= w.stepsSinceCheck
		w.stepsSinceCheck = 0
		w.Check()
	}
	return w.err == nil
}

// Check looks at the context, and at what it is bounded to.
func (w *Budget) Check() {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err == nil && w.limited && (w.stepsLeft < 0 || !w.deadline.IsZero() && !time.Now().Before(w.deadline)) {
		w.err = ErrBudgetSpent
	}
}

// Fail keeps an error, unless there is one.
func (w *Budget) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
