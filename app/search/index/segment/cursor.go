package segment

import (
	"fmt"
	"slices"
	"sort"
)

// NoMoreDocs is the document number after the last document.
const NoMoreDocs = ^uint32(0)

// Cursor iterates over the posting list of one term in one segment, block by block, from the newest
// document to the oldest. Before the first Next or Advance, it has no current document.
type Cursor struct {
	docs     [blockSize]uint32
	blockLen int // number of docs
	index    int // index of the current document in docs
	doc      uint32

	postings   byteReader
	budget     *Budget
	entry      Entry
	maxDoc     uint32 // number of documents in the segment
	numBlocks  int
	block      int  // number of the block in docs, or -1
	blockStart skip // its start offsets, and the last document of the previous block
	blockEnd   skip
	skips      [maxSkips * skipSize]byte
	firstSkip  int // number of the block of the first entry in skips
	numSkips   int

	raw          [maxBlockBytes]byte
	rawFreqs     []byte // the part of raw that contains the encoded frequencies
	freqsDecoded bool   // whether freqs is filled
	freqs        [blockSize]uint32
}

const (
	maxSkips = 32
	nearDocs = 8 // number of documents that Advance compares one after another
)

// Open positions the cursor before the first document of a term.
func (c *Cursor) Open(s *Segment, e Entry, b *Budget) {
	c.open(&s.streams[streamPostings], e, s.docs, b)
}

// open positions the cursor before the first document of a term.
func (c *Cursor) open(postings byteReader, e Entry, docs uint32, b *Budget) {
	c.postings, c.budget, c.entry, c.maxDoc = postings, b, e, docs
	c.blockLen, c.index, c.block, c.numSkips, c.doc = 0, 0, -1, 0, 0
	c.numBlocks = int((e.DocFreq + blockSize - 1) / blockSize)
	c.blockStart, c.blockEnd = skip{}, skip{lastDoc: NoMoreDocs}
	if e.DocFreq > docs || e.DocFreq == 1 && e.doc >= docs {
		b.Fail(fmt.Errorf("%w: posting list", ErrDamaged))
		c.numBlocks = 0
	}
}

// Next moves to the next document and returns it. At the end of the list, it returns NoMoreDocs.
func (c *Cursor) Next() uint32 {
	if c.index++; c.index < c.blockLen {
		c.doc = c.docs[c.index]
		return c.doc
	}
	return c.openBlock(c.block + 1)
}

// Advance moves to the first document that is not less than d and returns it. If there is none, it
// returns NoMoreDocs.
func (c *Cursor) Advance(d uint32) uint32 {
	if c.blockLen > 0 && c.doc >= d {
		return c.doc
	}
	if c.blockLen == 0 || c.docs[c.blockLen-1] < d {
		if c.openBlock(c.seekBlock(d)) == NoMoreDocs {
			return NoMoreDocs
		}
		if c.docs[c.blockLen-1] < d { // needed because a list of one block has no skip entry with its last document
			return c.exhaust()
		}
	}
	// The target is usually near if the list is long. The last document of the block is not less than d.
	for near := min(c.index+nearDocs, c.blockLen); c.index < near && c.docs[c.index] < d; {
		c.index++
	}
	if c.docs[c.index] < d {
		at, _ := slices.BinarySearch(c.docs[c.index:c.blockLen], d)
		c.index += at
	}
	c.doc = c.docs[c.index]
	return c.doc
}

// Doc returns the current document.
func (c *Cursor) Doc() uint32 { return c.doc }

// DocFreq returns the length of the posting list, including deleted documents.
func (c *Cursor) DocFreq() int { return int(c.entry.DocFreq) }

// exhaust moves past the last document.
func (c *Cursor) exhaust() uint32 {
	c.blockLen, c.index, c.doc, c.block = 1, 0, NoMoreDocs, c.numBlocks
	c.docs[0] = NoMoreDocs
	return NoMoreDocs
}

// openBlock reads a block and moves to its first document.
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
		return fmt.Errorf("%w: invalid block length", ErrDamaged)
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

// locateBlock finds the start and the end of a block in the postings.
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

// skipAt returns the skip entry of a block.
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
	s, err := c.skipAt(block)
	if err != nil {
		c.budget.Fail(err)
		return NoMoreDocs
	}
	return s.lastDoc
}

// seekBlock returns the first block after the current one that may contain d.
func (c *Cursor) seekBlock(d uint32) int {
	low := c.block + 1
	if c.numBlocks < 2 || low >= c.numBlocks {
		return low
	}
	// The target is usually near, so gallop first and then use a binary search.
	high, step := low, 1
	for high < c.numBlocks && c.lastDoc(high) < d {
		low = high + 1
		high += step
		step *= 2
	}
	return low + sort.Search(min(high, c.numBlocks)-low, func(i int) bool { return c.lastDoc(low+i) >= d })
}

// Freq returns the frequency of the term in the current document.
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
