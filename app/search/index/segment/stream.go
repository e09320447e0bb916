package segment

import (
	"encoding/binary"
	"fmt"
)

// byteReader reads a stream of a segment. What lies outside of it is ErrDamaged: only
// what was read from the segment says where to read.
type byteReader interface {
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

func (s *stream) checkRange(n int, off int64) error {
	if off < 0 || off > s.length || int64(n) > s.length-off {
		return fmt.Errorf("segment %d: %w: bytes %d to %d of %d", s.file.number, ErrDamaged, off, off+int64(n), s.length)
	}
	return nil
}

func (s *stream) readAt(p []byte, off int64) error {
	if err := s.checkRange(len(p), off); err != nil {
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

// sequentialReader reads a stream from front to back without the cache, so that a merge does
// not push out what searches need.
type sequentialReader struct {
	*stream
	page    int // which page of the stream is in buf; -1 for none
	buf     []byte
	content []byte
}

func newSequentialReader(s *stream) *sequentialReader { return &sequentialReader{stream: s, page: -1} }

func (r *sequentialReader) readAt(p []byte, off int64) error {
	if err := r.checkRange(len(p), off); err != nil {
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
			r.page, r.content = page, held
		}
		n := copy(p, r.content[off&pageMask:])
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// Column reads numbers of documents that ascend, some at a time. What cannot be read
// is 0, and said by the watch.
type Column struct {
	stream  byteReader
	budget  *Budget
	start   uint64 // byte of the stream that buf begins with
	buf     []byte
	scratch []byte
}

func newColumn(s byteReader, w *Budget) *Column { return &Column{stream: s, budget: w} }

// Groups reads the group of documents (U8).
func (s *Segment) Groups(w *Budget) *Column { return newColumn(&s.streams[streamGroups], w) }

// Dates reads the date of documents (U32, of which the caller makes an int32).
func (s *Segment) Dates(w *Budget) *Column { return newColumn(&s.streams[streamDates], w) }

// Lengths reads how many words documents have (U16).
func (s *Segment) Lengths(w *Budget) *Column { return newColumn(&s.streams[streamLengths], w) }

// columnChunk is less than a page: where few documents match, most of it is for nothing.
const columnChunk = 1 << 11

// U8 is the number of a document, of those that are one byte each.
func (c *Column) U8(doc uint32) byte {
	i := uint64(doc) - c.start
	if i < uint64(len(c.buf)) {
		return c.buf[i]
	}
	return c.load(uint64(doc), 1)[0]
}

// U16 is likewise of two bytes.
func (c *Column) U16(doc uint32) uint16 {
	return binary.LittleEndian.Uint16(c.bytesAt(2*uint64(doc), 2))
}

// U32 is likewise of four.
func (c *Column) U32(doc uint32) uint32 {
	return binary.LittleEndian.Uint32(c.bytesAt(4*uint64(doc), 4))
}

func (c *Column) u64(doc uint32) uint64 {
	return binary.LittleEndian.Uint64(c.bytesAt(8*uint64(doc), 8))
}

func (c *Column) bytesAt(off, size uint64) []byte {
	if i := off - c.start; i < uint64(len(c.buf)) {
		return c.buf[i : i+size] // numbers lie on multiples of their size, as pieces do
	}
	return c.load(off, size)
}

func (c *Column) load(off, size uint64) []byte {
	if c.scratch == nil {
		c.scratch = make([]byte, columnChunk)
	}
	c.start = off &^ (columnChunk - 1)
	c.buf = c.scratch[:0]
	n := min(columnChunk, c.stream.size()-int64(c.start))
	if n < int64(off-c.start+size) {
		c.budget.Fail(ErrDamaged)
		return make([]byte, size)
	}
	if err := c.stream.readAt(c.scratch[:n], int64(c.start)); err != nil {
		c.budget.Fail(err)
		return make([]byte, size)
	}
	c.buf = c.scratch[:n]
	return c.buf[off-c.start:][:size]
}
