package segment

import (
	"encoding/binary"
	"fmt"
)

// PositionSets reads the positions of a term in the current document of a cursor as a set. It is for
// terms with small positions, such as the number of a name in a list of names. It decodes all
// documents of a block at once, which is much faster than Positions if many of them are needed.
type PositionSets struct {
	cursor *Cursor
	stream byteReader
	block  int // the block of the cursor to which sets refers
	sets   [blockSize]uint64
	buf    [setsChunk]byte
}

const setsChunk = 1 << 10

// LaterPositions is the bit for all positions from 63. The bit for any other position is 1<<position.
const LaterPositions = uint64(1) << 63

// Open attaches p to a cursor over a term with positions.
func (p *PositionSets) Open(s *Segment, c *Cursor) {
	p.cursor, p.stream, p.block = c, &s.streams[streamPositions], -1
}

// Set returns the positions in the current document. It is empty if they can't be read.
func (p *PositionSets) Set() uint64 {
	if c := p.cursor; c.block != p.block {
		p.block = c.block
		if err := p.readBlock(); err != nil {
			c.budget.Fail(err)
			clear(p.sets[:])
		}
	}
	return p.sets[p.cursor.index]
}

// readBlock reads the positions of all documents of the cursor's block.
func (p *PositionSets) readBlock() error {
	c := p.cursor
	c.Freq() // decode the frequencies of the block
	total := 0
	for _, freq := range c.freqs[:c.blockLen] {
		total += storedPositions(freq)
	}
	if !c.budget.Spend(total) {
		return c.budget.Err()
	}
	off, end := c.entry.positions.off+int64(c.blockStart.positionsEnd), c.entry.positions.off+int64(c.blockEnd.positionsEnd)
	if end-off == int64(total) && total <= len(p.buf) {
		if err := p.stream.readAt(p.buf[:total], off); err != nil {
			return err
		}
		p.decodeBytes(p.buf[:total])
		return nil
	}
	return p.decode(off, end)
}

// decodeBytes decodes positions and differences of one byte each, which is the usual case.
func (p *PositionSets) decodeBytes(raw []byte) {
	sets := p.sets[:p.cursor.blockLen]
	for i, freq := range p.cursor.freqs[:len(sets)] {
		at, set := uint32(0), uint64(0)
		for _, gap := range raw[:freq] {
			at += uint32(gap)
			set |= 1 << min(at, 63)
		}
		sets[i], raw = set, raw[freq:]
	}
}

// decode decodes the positions between two offsets in the stream.
func (p *PositionSets) decode(off, end int64) error {
	c := p.cursor
	var rest []byte
	for i, freq := range c.freqs[:c.blockLen] {
		at, set := uint32(0), uint64(0)
		for range storedPositions(freq) {
			if len(rest) < binary.MaxVarintLen32 && off < end {
				kept := copy(p.buf[:], rest)
				rest = p.buf[:kept+int(min(int64(len(p.buf)-kept), end-off))]
				if err := p.stream.readAt(rest[kept:], off); err != nil {
					return err
				}
				off += int64(len(rest) - kept)
			}
			gap, size := Uvarint32(rest)
			if size == 0 {
				return fmt.Errorf("%w: invalid positions", ErrDamaged)
			}
			at, rest = at+gap, rest[size:]
			set |= 1 << min(at, 63)
		}
		p.sets[i] = set
	}
	return nil
}
