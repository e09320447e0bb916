package segment

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Positions reads the positions of a term in the current document of a cursor. It does not decode
// the positions of skipped documents.
type Positions struct {
	cursor   *Cursor
	stream   byteReader
	block    int   // the block of the cursor to which docIndex refers
	docIndex int   // index of the document in the block whose positions start at rest
	offset   int64 // offset of the end of rest in the stream
	end      int64
	rest     []byte // the part of buf that has not been consumed yet
	buf      [positionsChunk]byte
}

const positionsChunk = 1 << 12

// MaxPositions is the maximum number of positions stored for a term in one document. It limits the
// cost of a phrase query for a text that repeats one word.
const MaxPositions = 1 << 12

// storedPositions returns the number of positions that are stored for a term with the given
// frequency.
func storedPositions(freq uint32) int { return int(min(freq, MaxPositions)) }

// Open attaches p to a cursor over a term with positions.
func (p *Positions) Open(s *Segment, c *Cursor) { p.open(&s.streams[streamPositions], c) }

func (p *Positions) open(stream byteReader, c *Cursor) {
	p.cursor, p.stream, p.block, p.docIndex = c, stream, -1, 0
	p.end = c.entry.positions.off + c.entry.positions.length
}

// Read appends the positions in the current document to out, in ascending order. Call it no more
// than once per document.
func (p *Positions) Read(out []uint32) []uint32 {
	if p.seekDoc() {
		out = p.decode(storedPositions(p.cursor.freqs[p.cursor.index]), out)
	}
	return out
}

// appendRaw appends the encoded positions in the current document to out. Don't use it together
// with Read.
func (p *Positions) appendRaw(out []byte) []byte {
	if p.seekDoc() {
		out = p.advance(storedPositions(p.cursor.freqs[p.cursor.index]), out, true)
	}
	return out
}

// seekDoc moves to the positions of the current document. It returns false if they have already
// been read.
func (p *Positions) seekDoc() bool {
	c := p.cursor
	if c.block != p.block {
		p.block, p.docIndex, p.rest = c.block, 0, nil
		p.offset = c.entry.positions.off + int64(c.blockStart.positionsEnd)
	}
	c.Freq() // decode the frequencies of the block
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

// fill reads more bytes of the stream and appends them to rest. It returns false if there are none.
func (p *Positions) fill() bool {
	kept := copy(p.buf[:], p.rest)
	n := min(int64(len(p.buf)-kept), p.end-p.offset)
	p.rest = p.buf[:kept]
	if n <= 0 || !p.cursor.budget.spendBlock() {
		p.cursor.budget.Fail(fmt.Errorf("%w: invalid positions", ErrDamaged))
		return false
	}
	if err := p.stream.readAt(p.buf[kept:kept+int(n)], p.offset); err != nil {
		p.cursor.budget.Fail(err)
		return false
	}
	p.rest, p.offset = p.buf[:kept+int(n)], p.offset+n
	return true
}

// advance skips n numbers. If keep is set, it also appends their bytes to out. The last byte of a
// varint is less than 128.
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

// decode decodes n positions and appends them to out.
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
		gap, size := Uvarint32(rest)
		if size == 0 {
			p.cursor.budget.Fail(fmt.Errorf("%w: invalid positions", ErrDamaged))
			return out
		}
		at += gap
		rest = rest[size:]
		out = append(out, at)
	}
	p.rest = rest
	return out
}
