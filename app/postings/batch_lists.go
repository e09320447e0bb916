package postings

import "encoding/binary"

// chains are the lists of a batch, one for every term, which grow side by side: each is
// a chain of chunks in common pages. A chunk ends with the place of the next, and is
// twice as long as the one before, up to a bound.
//
// A list is varints: a document is its distance to the one before, doubled, plus one;
// behind it stand the positions in it, each its distance to the one before, doubled.
type chains struct {
	pages [][]byte
	used  int // bytes of the last page
}

const (
	chunkPage  = 1 << 16
	chunkLink  = 4
	chunkFirst = 12
	chunkMost  = 1 << 12
)

// chain is a list in chains; the zero value is an empty one.
type chain struct {
	first uint32 // chunk
	at    uint32 // where the next byte goes
	left  uint16 // bytes left in the chunk, without its link
	size  uint16 // of the chunk; 0 where there is none
}

func (c *chains) bytes() int { return len(c.pages) * chunkPage }

func (c *chains) append(l *chain, v uint64) {
	var b [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(b[:], v)
	for _, x := range b[:n] {
		if l.left == 0 {
			c.extend(l)
		}
		c.pages[l.at/chunkPage][l.at%chunkPage] = x
		l.at++
		l.left--
	}
}

// extend puts a chunk behind the last of the list.
func (c *chains) extend(l *chain) {
	size := min(2*int(l.size), chunkMost)
	if size == 0 {
		size = chunkFirst
	}
	if len(c.pages) == 0 || c.used+size > chunkPage {
		c.pages = append(c.pages, make([]byte, chunkPage))
		c.used = 0
	}
	at := uint32((len(c.pages)-1)*chunkPage + c.used)
	c.used += size
	if l.size == 0 {
		l.first = at
	} else {
		binary.LittleEndian.PutUint32(c.pages[l.at/chunkPage][l.at%chunkPage:], at)
	}
	l.at, l.size, l.left = at, uint16(size), uint16(size-chunkLink)
}

// read appends the bytes of a list to p.
func (c *chains) read(l *chain, p []byte) []byte {
	at, size := l.first, chunkFirst
	for l.size != 0 {
		page, in := c.pages[at/chunkPage], int(at%chunkPage)
		end := in + size - chunkLink
		if l.at >= at && l.at <= at+uint32(size-chunkLink) {
			return append(p, page[in:int(l.at%chunkPage)]...)
		}
		p = append(p, page[in:end]...)
		at, size = binary.LittleEndian.Uint32(page[end:]), min(2*size, chunkMost)
	}
	return p
}
