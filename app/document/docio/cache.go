package docio

const (
	blockSize  = 16 << 10 // a worker fetches 64 KiB, a multiple of this, from its parent in one round trip
	blockSlots = 8
)

// cache holds the most recently used blocks of a document.
type cache struct {
	slots   [blockSlots]slot
	clock   int64 // counts lookups
	fetches int64 // number of blocks that may still be read from the document
}

type slot struct {
	block    int64 // number of the block, valid if lastUsed > 0
	lastUsed int64 // value of clock at the last lookup
	data     []byte
}

// readBlocks fills p with bytes from cached blocks. It stops at the end of the document.
func (r *Reader) readBlocks(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < r.size {
		data, err := r.block(off / blockSize)
		if err != nil {
			return n, err
		}
		c := copy(p[n:], data[off%blockSize:])
		n += c
		off += int64(c)
	}
	return n, nil
}

// block returns the block with the given number, which must start within the document. If the block
// isn't cached, it replaces the least recently used one.
func (r *Reader) block(number int64) ([]byte, error) {
	c := r.cache
	c.clock++
	oldest := &c.slots[0]
	for i := range c.slots {
		slot := &c.slots[i]
		if slot.lastUsed > 0 && slot.block == number {
			slot.lastUsed = c.clock
			return slot.data, nil
		}
		if slot.lastUsed < oldest.lastUsed {
			oldest = slot
		}
	}
	if c.fetches == 0 {
		return nil, errTooManyReads
	}
	c.fetches--
	if oldest.data == nil {
		oldest.data = make([]byte, blockSize)
	}
	oldest.lastUsed = 0
	off := number * blockSize
	oldest.data = oldest.data[:min(blockSize, r.size-off)]
	if _, err := r.read(oldest.data, off); err != nil {
		return nil, err
	}
	oldest.block, oldest.lastUsed = number, c.clock
	return oldest.data, nil
}
