package segment

import (
	"encoding/binary"
	"fmt"
)

// byteReader reads a stream of a segment. Reading out of range returns ErrDamaged because all
// offsets come from the segment itself.
type byteReader interface {
	readAt(p []byte, off int64) error
	size() int64
}

// stream is one stream of a segment, read through the cache.
type stream struct {
	file   *pageFile
	length int64
	pages  []uint32
}

func (s *stream) size() int64 { return s.length }

func (s *stream) checkRange(n int, off int64) error {
	if off < 0 || off > s.length || int64(n) > s.length-off {
		return fmt.Errorf("segment %d: %w: bytes %d to %d are outside the stream (%d bytes)", s.file.number, ErrDamaged, off, off+int64(n), s.length)
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

// sequentialReader reads a stream from start to end. It does not use the cache, so a merge does not
// evict the pages that searches use.
type sequentialReader struct {
	*stream
	page    int // number of the stream page in buf; -1 if there is none
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
			content, err := r.file.read(r.pages[page], r.buf)
			if err != nil {
				r.page = -1
				return err
			}
			r.page, r.content = page, content
		}
		n := copy(p, r.content[off&pageMask:])
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// Column reads a fixed-size value of each document, in chunks. Documents should be read in
// ascending order. If a value cannot be read, it is 0, and the budget fails with the error.
type Column struct {
	stream  byteReader
	budget  *Budget
	start   uint64 // offset of buf in the stream
	buf     []byte
	scratch []byte
}

// Groups returns the column with the group of each document (U8).
func (s *Segment) Groups(b *Budget) *Column { return s.column(streamGroups, b) }

// Dates returns the column with the date of each document (U32; callers convert it to int32).
func (s *Segment) Dates(b *Budget) *Column { return s.column(streamDates, b) }

// Lengths returns the column with the number of words of each document (U16).
func (s *Segment) Lengths(b *Budget) *Column { return s.column(streamLengths, b) }

func (s *Segment) column(n int, b *Budget) *Column { return &Column{stream: &s.streams[n], budget: b} }

// columnChunk is the number of bytes read at a time. It is smaller than a page because a sparse
// posting list uses only a few bytes of each chunk.
const columnChunk = 1 << 11

// U8 returns the value of a document in a column of one byte per document.
func (c *Column) U8(doc uint32) byte {
	return c.bytesAt(uint64(doc), 1)[0]
}

// U16 returns the value of a document in a column of two bytes per document.
func (c *Column) U16(doc uint32) uint16 {
	return binary.LittleEndian.Uint16(c.bytesAt(2*uint64(doc), 2))
}

// U32 returns the value of a document in a column of four bytes per document.
func (c *Column) U32(doc uint32) uint32 {
	return binary.LittleEndian.Uint32(c.bytesAt(4*uint64(doc), 4))
}

func (c *Column) u64(doc uint32) uint64 {
	return binary.LittleEndian.Uint64(c.bytesAt(8*uint64(doc), 8))
}

func (c *Column) bytesAt(off, size uint64) []byte {
	if i := off - c.start; i < uint64(len(c.buf)) {
		return c.buf[i : i+size] // in bounds because both values and chunks are aligned
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
