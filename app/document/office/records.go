package office

import "encoding/binary"

// records reads little-endian numbers from a stream of the old Office formats. Reading a number
// outside the stream returns 0.
type records []byte

// u16 returns the two-byte number at the offset at.
func (r records) u16(at int) int {
	if b := r.span(at, 2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}

// u32 returns the four-byte number at the offset at.
func (r records) u32(at int) int {
	if b := r.span(at, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// span returns the n bytes at the offset at, or nil if the stream doesn't contain all of them.
func (r records) span(at, n int) records {
	if at < 0 || n < 0 || at > len(r) || n > len(r)-at {
		return nil
	}
	return r[at : at+n]
}

// maxParts is the maximum number of sheets, slides, or number formats to read from a document.
const maxParts = 10_000
