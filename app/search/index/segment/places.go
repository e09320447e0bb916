package segment

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Places reads where a word stands in the document that its cursor is in. Documents in
// between are passed over without being decoded.
type Places struct {
	cursor *Cursor
	stream reader
	block  int   // of the cursor, to which index belongs
	index  int   // document of the block at which rest begins
	off    int64 // of the stream, behind rest
	end    int64
	rest   []byte // of buf, not yet taken
	buf    [placesChunk]byte
}

const placesChunk = 1 << 12

// MostPlaces is the most positions kept of a term in a document: of a text that is one
// word over and over nobody needs more, and it bounds what a phrase costs.
const MostPlaces = 1 << 12

// placed is how many positions are kept of so many.
func placed(times uint32) int { return int(min(times, MostPlaces)) }

// Open puts it to a cursor of the segment, which is in a word.
func (p *Places) Open(s *Segment, c *Cursor) { p.open(&s.streams[streamPositions], c) }

func (p *Places) open(stream reader, c *Cursor) {
	p.cursor, p.stream, p.block, p.index = c, stream, -1, 0
	p.end = c.entry.places.off + c.entry.places.length
}

// Read appends the positions in the document, ascending, to out. It is to be asked once
// for each.
func (p *Places) Read(out []uint32) []uint32 {
	if p.reach() {
		out = p.decode(placed(p.cursor.times[p.cursor.at]), out)
	}
	return out
}

// raw appends the positions as they are written to out. It is not to be mixed with Read.
func (p *Places) raw(out []byte) []byte {
	if p.reach() {
		out = p.advance(placed(p.cursor.times[p.cursor.at]), out, true)
	}
	return out
}

// reach goes to the positions in the document; false where they are behind.
func (p *Places) reach() bool {
	c := p.cursor
	if c.block != p.block {
		p.block, p.index, p.rest = c.block, 0, nil
		p.off = c.entry.places.off + int64(c.begun.positions)
	}
	c.Often() // decodes how many are to be passed over
	if p.index == c.at+1 {
		return false
	}
	pass := 0
	for _, n := range c.times[p.index:c.at] {
		pass += placed(n)
	}
	p.advance(pass, nil, false)
	p.index = c.at + 1
	return true
}

// fill reads on behind rest, which it keeps; false at the end.
func (p *Places) fill() bool {
	kept := copy(p.buf[:], p.rest)
	n := min(int64(len(p.buf)-kept), p.end-p.off)
	p.rest = p.buf[:kept]
	if n <= 0 || !p.cursor.watch.block() {
		p.cursor.watch.Fail(fmt.Errorf("%w: positions", ErrDamaged))
		return false
	}
	if err := p.stream.readAt(p.buf[kept:kept+int(n)], p.off); err != nil {
		p.cursor.watch.Fail(err)
		return false
	}
	p.rest, p.off = p.buf[:kept+int(n)], p.off+n
	return true
}

// advance passes over n numbers, and appends them to out where they are to be kept. Each
// ends with its one byte below 128.
func (p *Places) advance(n int, out []byte, keep bool) []byte {
	for n > 0 {
		if len(p.rest) == 0 && !p.fill() {
			return out
		}
		at := 0
		for n >= 8 && len(p.rest)-at >= 8 {
			n -= bits.OnesCount64(^binary.LittleEndian.Uint64(p.rest[at:]) & continuations)
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
func (p *Places) decode(n int, out []uint32) []uint32 {
	at := uint32(0)
	rest := p.rest
	for ; n > 0; n-- {
		if len(rest) < binary.MaxVarintLen32 {
			if p.rest = rest; p.off < p.end && !p.fill() {
				return out
			}
			rest = p.rest
		}
		gap, size := number(rest)
		if size == 0 {
			p.cursor.watch.Fail(fmt.Errorf("%w: positions", ErrDamaged))
			return out
		}
		at += gap
		rest = rest[size:]
		out = append(out, at)
	}
	p.rest = rest
	return out
}
