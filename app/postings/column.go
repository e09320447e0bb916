package postings

import "encoding/binary"

// column reads numbers of documents that ascend, some at a time. What cannot be read
// is 0, and said by the watch.
type column struct {
	stream reader
	watch  *watch
	from   uint64 // byte of the stream that buf begins with
	buf    []byte
	room   []byte
}

func newColumn(s reader, w *watch) *column { return &column{stream: s, watch: w} }

// columnChunk is less than a page: where few documents match, most of it is for nothing.
const columnChunk = 1 << 11

func (c *column) u8(doc uint32) byte {
	i := uint64(doc) - c.from
	if i < uint64(len(c.buf)) {
		return c.buf[i]
	}
	return c.load(uint64(doc), 1)[0]
}

func (c *column) u16(doc uint32) uint16 {
	return binary.LittleEndian.Uint16(c.at(2*uint64(doc), 2))
}

func (c *column) u32(doc uint32) uint32 {
	return binary.LittleEndian.Uint32(c.at(4*uint64(doc), 4))
}

func (c *column) u64(doc uint32) uint64 {
	return binary.LittleEndian.Uint64(c.at(8*uint64(doc), 8))
}

func (c *column) at(off, size uint64) []byte {
	if i := off - c.from; i < uint64(len(c.buf)) {
		return c.buf[i : i+size] // numbers lie on multiples of their size, as pieces do
	}
	return c.load(off, size)
}

func (c *column) load(off, size uint64) []byte {
	if c.room == nil {
		c.room = make([]byte, columnChunk)
	}
	c.from = off &^ (columnChunk - 1)
	c.buf = c.room[:0]
	n := min(columnChunk, c.stream.size()-int64(c.from))
	if n < int64(off-c.from+size) {
		c.watch.fail(ErrDamaged)
		return make([]byte, size)
	}
	if err := c.stream.readAt(c.room[:n], int64(c.from)); err != nil {
		c.watch.fail(err)
		return make([]byte, size)
	}
	c.buf = c.room[:n]
	return c.buf[off-c.from:][:size]
}
