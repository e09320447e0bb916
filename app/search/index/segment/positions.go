package segment

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Positions reads the positions of a term in the current document of a cursor. The positions of
// skipped documents are not decoded.
type Positions struct {
	cursor   *Cursor
	stream   byteReader
	block    int   // of the cursor; docIndex belongs to it
	docIndex int   // index in the block of the document whose positions start at rest
	offset   int64 // end of rest in the stream
	end      int64
	rest     []byte // part of buf that was not consumed yet
	buf      [positionsChunk]byte
}

const positionsChunk = 1 << 12

// MaxPositions is the maximum number of positions stored per term and document. It limits the cost
// of a phrase query on a text that repeats one word.
const MaxPositions = 1 << 12

// storedPositions returns how many positions are stored for a term frequency.
func storedPositions(freq uint32) int { return int(min(freq, MaxPositions)) }

// Open attaches p to a cursor over a term with positions.
func (p *Positions) Open(s *Segment, c *Cursor) { p.open(&s.streams[streamPositions], c) }

func (p *Positions) open(stream byteReader, c *Cursor) {
	p.cursor, p.stream, p.block, p.docIndex = c, stream, -1, 0
	p.end = c.entry.positions.off + c.entry.positions.length
}

// Read appends the positions in the current document to out, in ascending order. Call it at most
// once per document.
func (p *Positions) Read(out []uint32) []uint32 {
	if p.seekDoc() {
		out = p.decode(storedPositions(p.cursor.freqs[p.cursor.index]), out)
	}
	return out
}

// appendRaw appends the encoded positions to out. Don't mix it with Read.
func (p *Positions) appendRaw(out []byte) []byte {
	if p.seekDoc() {
		out = p.advance(storedPositions(p.cursor.freqs[p.cursor.index]), out, true)
	}
	return out
}

// seekDoc moves to the positions of the current document. It returns false if they were read
// already.
func (p *Positions) seekDoc() bool {
	c := p.cursor
	if c.block != p.block {
		p.block, p.docIndex, p.rest = c.block, 0, nil
		p.offset = c.entry.positions.off + int64(c.blockStart.positionsEnd)
	}
	c.Freq() // decodes the frequencies of the block
	if p.docIndex == c.index+1 {
		return false
	}
	skip := 0
	for _, n := range c.freqs[p.docIndex:c.index] {
		skip += storedPositions(n)
	}
	p.advance(skip, nil, false)
	p.docIndex = c.index + 1
	return true
}

// fill reads more bytes after rest. It returns false at the end.
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

// advance skips n numbers, or appends their bytes to out if keep is set. The last byte of a varint
// is the one below 128.
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

// decode appends n positions to out.
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
