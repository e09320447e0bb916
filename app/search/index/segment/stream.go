package segment

import (
	"encoding/binary"
	"fmt"
)

// reader reads a stream of a segment. What lies outside of it is ErrDamaged: only
// what was read from the segment says where to read.
type reader interface {
	readAt(p []byte, off int64) error
	size() int64
}

// stream is one of the streams of a segment, read through the cache.
type stream struct {
	file   *pageFile
	length int64
	pages  []uint32
}

func (s *stream) size() int64 { return s.length }

func (s *stream) within(n int, off int64) error {
	if off < 0 || off > s.length || int64(n) > s.length-off {
		return fmt.Errorf("segment %d: %w: bytes %d to %d of %d", s.file.number, ErrDamaged, off, off+int64(n), s.length)
	}
	return nil
}

func (s *stream) readAt(p []byte, off int64) error {
	if err := s.within(len(p), off); err != nil {
		return err
	}
	for len(p) > 0 {
		at := int(off & pageMask)
		n := min(len(p), pageSize-at)
		if err := s.file.cache.read(s.file, s.pages[off>>pageBits], at, p[:n]); err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// passage reads a stream from front to back without the cache, so that a merge does
// not push out what searches need.
type passage struct {
	*stream
	page int // which page of the stream is in buf; -1 for none
	buf  []byte
	held []byte
}

func newPassage(s *stream) *passage { return &passage{stream: s, page: -1} }

func (r *passage) readAt(p []byte, off int64) error {
	if err := r.within(len(p), off); err != nil {
		return err
	}
	for len(p) > 0 {
		if page := int(off >> pageBits); page != r.page {
			if r.buf == nil {
				r.buf = make([]byte, pageSize)
			}
			held, err := r.file.read(r.pages[page], r.buf)
			if err != nil {
				r.page = -1
				return err
			}
			r.page, r.held = page, held
		}
		n := copy(p, r.held[off&pageMask:])
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// Column reads numbers of documents that ascend, some at a time. What cannot be read
// is 0, and said by the watch.
type Column struct {
	stream reader
	watch  *Watch
	from   uint64 // byte of the stream that buf begins with
	buf    []byte
	room   []byte
}

func newColumn(s reader, w *Watch) *Column { return &Column{stream: s, watch: w} }

// Groups reads the group of documents (U8).
func (s *Segment) Groups(w *Watch) *Column { return newColumn(&s.streams[streamGroups], w) }

// Dates reads the date of documents (U32, of which the caller makes an int32).
func (s *Segment) Dates(w *Watch) *Column { return newColumn(&s.streams[streamDates], w) }

// Lengths reads how many words documents have (U16).
func (s *Segment) Lengths(w *Watch) *Column { return newColumn(&s.streams[streamLengths], w) }

// columnChunk is less than a page: where few documents match, most of it is for nothing.
const columnChunk = 1 << 11

// U8 is the number of a document, of those that are one byte each.
func (c *Column) U8(doc uint32) byte {
	i := uint64(doc) - c.from
	if i < uint64(len(c.buf)) {
		return c.buf[i]
	}
	return c.load(uint64(doc), 1)[0]
}

// U16 is likewise of two bytes.
func (c *Column) U16(doc uint32) uint16 {
	return binary.LittleEndian.Uint16(c.at(2*uint64(doc), 2))
}

// U32 is likewise of four.
func (c *Column) U32(doc uint32) uint32 {
	return binary.LittleEndian.Uint32(c.at(4*uint64(doc), 4))
}

func (c *Column) u64(doc uint32) uint64 {
	return binary.LittleEndian.Uint64(c.at(8*uint64(doc), 8))
}

func (c *Column) at(off, size uint64) []byte {
	if i := off - c.from; i < uint64(len(c.buf)) {
		return c.buf[i : i+size] // numbers lie on multiples of their size, as pieces do
	}
	return c.load(off, size)
}

func (c *Column) load(off, size uint64) []byte {
	if c.room == nil {
		c.room = make([]byte, columnChunk)
	}
	c.from = off &^ (columnChunk - 1)
	c.buf = c.room[:0]
	n := min(columnChunk, c.stream.size()-int64(c.from))
	if n < int64(off-c.from+size) {
		c.watch.Fail(ErrDamaged)
		return make([]byte, size)
	}
	if err := c.stream.readAt(c.room[:n], int64(c.from)); err != nil {
		c.watch.Fail(err)
		return make([]byte, size)
	}
	c.buf = c.room[:n]
	return c.buf[off-c.from:][:size]
}
