package document

import "encoding/binary"

// records reads little-endian numbers from a stream of the old Office formats. A number
// outside the stream is 0.
type records []byte

// u16 returns the number of two bytes at an offset.
func (r records) u16(at int) int {
	if b := r.span(at, 2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}

// u32 returns the number of four bytes at an offset.
func (r records) u32(at int) int {
	if b := r.span(at, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// span returns the n bytes at an offset, nil unless all of them exist.
func (r records) span(at, n int) records {
	if at < 0 || n < 0 || at > len(r) || n > len(r)-at {
		return nil
	}
	return r[at : at+n]
}

// maxParts is how many sheets, slides, or number formats of a document are read.
const maxParts = 10_000
