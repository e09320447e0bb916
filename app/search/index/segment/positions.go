package segment

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Positions reads where a word stands in the document that its cursor is in. Documents in
// between are passed over without being decoded.
type Positions struct {
	cursor   *Cursor
	stream   byteReader
	block    int   // of the cursor, to which index belongs
	docIndex int   // document of the block at which rest begins
	offset   int64 // of the stream, behind rest
	end      int64
	rest     []byte // of buf, not yet taken
	buf      [positionsChunk]byte
}

const positionsChunk = 1 << 12

// MaxPositions is the most positions kept of a term in a document: of a text that is one
// word over and over nobody needs more, and it bounds what a phrase costs.
const MaxPositions = 1 << 12

// storedPositions is how many positions are kept of so many.
func storedPositions(times uint32) int { return int(min(times, MaxPositions)) }

// Open puts it to a cursor of the segment, which is in a word.
func (p *Positions) Open(s *Segment, c *Cursor) { p.open(&s.streams[streamPositions], c) }

func (p *Positions) open(stream byteReader, c *Cursor) {
	p.cursor, p.stream, p.block, p.docIndex = c, stream, -1, 0
	p.end = c.entry.positions.off + c.entry.positions.length
}

// Read appends the positions in the document, ascending, to out. It is to be asked once
// for each.
func (p *Positions) Read(out []uint32) []uint32 {
	if p.seekDoc() {
		out = p.decode(storedPositions(p.cursor.freqs[p.cursor.index]), out)
	}
	return out
}

// appendRaw appends the positions as they are written to out. It is not to be mixed with Read.
func (p *Positions) appendRaw(out []byte) []byte {
	if p.seekDoc() {
		out = p.advance(storedPositions(p.cursor.freqs[p.cursor.index]), out, true)
	}
	return out
}

// seekDoc goes to the positions in the document; false where they are behind.
func (p *Positions) seekDoc() bool {
	c := p.cursor
	if c.block != p.block {
		p.block, p.docIndex, p.rest = c.block, 0, nil
		p.offset = c.entry.positions.off + int64(c.blockStart.positionsEnd)
	}
	c.Freq() // decodes how many are to be passed over
	if p.docIndex == c.index+1 {
		return false
	}
	pass := 0
	for _, n := range c.freqs[p.docIndex:c.index] {
		pass += storedPositions(n)
	}
	p.advance(pass, nil, false)
	p.docIndex = c.index + 1
	return true
}

// fill reads on behind rest, which it keeps; false at the end.
func (p *Positions) fill() bool {
	kept := copy(p.buf[:], p.rest)
	n := min(int64(len(p.buf)-kept), p.end-p.offset)
	p.rest = p.buf[:kept]
	if n <= 0 || !p.cursor.budget.spendBlock() {
		p.cursor.budget.Fail(fmt.Errorf("%w: positions", ErrDamaged))
		return false
	}
	if err := p.stream.readAt(p.buf[kept:kept+int(n)], p.offset); err != nil {
		p.cursor.budget.Fail(err)
		return false
	}
	p.rest, p.offset = p.buf[:kept+int(n)], p.offset+n
	return true
}

// advance passes over n numbers, and appends them to out where they are to be kept. Each
// ends with its one byte below 128.
func (p *Positions) advance(n int, out []byte, keep bool) []byte {
	for n > 0 {
		if len(p.rest) == 0 && !p.fill() {
			return out
		}
		at := 0
		for n >= 8 && len(p.rest)-at >= 8 {
			n -= bits.OnesCount64(^binary.LittleEndian.Uint64(p.rest[at:]) & continuationBits)
			at += 8
		}
		for ; n > 0 && at < len(p.rest); at++ {
			if p.rest[at] < 0x80 {
				n--
			}
		}
		if keep {
			out = append(out, p.rest[:at]...)
		}
		p.rest = p.rest[at:]
	}
	return out
}

// decode appends n positions.
func (p *Positions) decode(n int, out []uint32) []uint32 {
	at := uint32(0)
	rest := p.rest
	for ; n > 0; n-- {
		if len(rest) < binary.MaxVarintLen32 {
			if p.rest = rest; p.offset < p.end && !p.fill() {
				return out
			}
			rest = p.rest
		}
		gap, size := readUvarint32(rest)
		if size == 0 {
			p.cursor.budget.Fail(fmt.Errorf("%w: positions", ErrDamaged))
			return out
		}
		at += gap
		rest = rest[size:]
		out = append(out, at)
	}
	p.rest = rest
	return out
}
