package postings

import "encoding/binary"

// column reads numbers of documents that ascend, a page at a time.
type column struct {
	stream reader
	watch  *watch
	from   int64 // byte of the stream that buf begins with
	buf    []byte
	room   []byte
}

func newColumn(s reader, w *watch) *column { return &column{stream: s, watch: w} }

// at returns size bytes of the column; nil where they cannot be read.
func (c *column) at(off int64, size int) []byte {
	if i := off - c.from; i >= 0 && i+int64(size) <= int64(len(c.buf)) {
		return c.buf[i : i+int64(size)]
	}
	return c.load(off, size)
}

// columnChunk is less than a page: where few documents match, most of it is for nothing.
const columnChunk = 1 << 11

func (c *column) load(off int64, size int) []byte {
	if c.room == nil {
		c.room = make([]byte, columnChunk)
	}
	c.from = off &^ (columnChunk - 1)
	n := min(columnChunk, c.stream.size()-c.from)
	c.buf = c.room[:0]
	if off-c.from+int64(size) > n {
		c.watch.fail(ErrDamaged)
		return nil
	}
	if err := c.stream.readAt(c.room[:n], c.from); err != nil {
		c.watch.fail(err)
		return nil
	}
	c.buf = c.room[:n]
	return c.at(off, size)
}

func (c *column) u8(doc uint32) byte {
	if p := c.at(int64(doc), 1); p != nil {
		return p[0]
	}
	return 0
}

func (c *column) u32(doc uint32) uint32 {
	if p := c.at(4*int64(doc), 4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (c *column) u64(doc uint32) uint64 {
	if p := c.at(8*int64(doc), 8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}
