package segment

import (
	"encoding/binary"
	"fmt"
)

// The posting list of a term that is in more than one document is written in blocks. Numbers are
// unsigned varints. A gap is the difference from the previous number, minus one. The number before
// the first is -1. A list with only one block has no skip entries.
//
//	postings := block* skip*
//	block    := gap of every document, [term frequency in every document]
//	skip     := last document of the block u32, end of the block u32, end of its positions u64
//
// Ends are relative to the start of the postings and the positions of the term. Only terms with
// positions have frequencies. In a document to which the term was added without a position, its
// frequency is 0.
//
//	positions := for every document: the first position, then the differences between
//	             consecutive positions, up to MaxPositions positions
const (
	blockSize     = 128
	skipSize      = 16
	maxBlockBytes = blockSize * (5 + 5) // upper bound
)

// skip is a skip entry: the last document of a block and the end of the block.
type skip struct {
	lastDoc      uint32
	postingsEnd  uint32
	positionsEnd uint64
}

func (s skip) append(p []byte) []byte {
	p = binary.LittleEndian.AppendUint32(p, s.lastDoc)
	p = binary.LittleEndian.AppendUint32(p, s.postingsEnd)
	return binary.LittleEndian.AppendUint64(p, s.positionsEnd)
}

func parseSkip(p []byte) skip {
	return skip{binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:]), binary.LittleEndian.Uint64(p[8:])}
}

// appendGaps appends the gaps of docs to p. docs must be ascending and greater than prev.
func appendGaps(p []byte, prev uint32, docs []uint32) []byte {
	for _, d := range docs {
		p = binary.AppendUvarint(p, uint64(d-prev-1))
		prev = d
	}
	return p
}

func appendUvarints(p []byte, numbers []uint32) []byte {
	for _, n := range numbers {
		p = binary.AppendUvarint(p, uint64(n))
	}
	return p
}

const continuationBits = 0x8080808080808080

// decodeGaps decodes the documents that follow prev into docs and returns the rest of p. ^0 as prev
// stands for -1. All documents must be below limit.
func decodeGaps(p []byte, prev uint32, docs []uint32, limit uint32) ([]byte, error) {
	at, i := uint64(prev)+1, 0
	if prev == ^uint32(0) {
		at = 0
	}
	for i < len(docs) {
		// Fast path: decode eight gaps of one byte each. Frequent terms usually have such gaps.
		if len(docs)-i >= 8 && len(p) >= 8 {
			if v := binary.LittleEndian.Uint64(p); v&continuationBits == 0 {
				eight := docs[i : i+8 : i+8]
				for j := range eight {
					at += v & 0x7f
					eight[j] = uint32(at)
					at++
					v >>= 8
				}
				p, i = p[8:], i+8
				continue
			}
		}
		gap, n := Uvarint32(p)
		if n == 0 {
			return nil, fmt.Errorf("%w: invalid document gap", ErrDamaged)
		}
		p, at = p[n:], at+uint64(gap)
		docs[i] = uint32(at)
		at++
		i++
	}
	if at > uint64(limit) {
		return nil, fmt.Errorf("%w: document number %d, limit %d", ErrDamaged, at-1, limit)
	}
	return p, nil
}

// decodeUvarints decodes varints into numbers and returns the rest of p.
func decodeUvarints(p []byte, numbers []uint32) ([]byte, error) {
	for i := 0; i < len(numbers); {
		if len(numbers)-i >= 8 && len(p) >= 8 { // the same fast path as in decodeGaps
			if v := binary.LittleEndian.Uint64(p); v&continuationBits == 0 {
				eight := numbers[i : i+8 : i+8]
				for j := range eight {
					eight[j] = uint32(v & 0x7f)
					v >>= 8
				}
				p, i = p[8:], i+8
				continue
			}
		}
		v, n := Uvarint32(p)
		if n == 0 {
			return nil, fmt.Errorf("%w: invalid count", ErrDamaged)
		}
		numbers[i], p = v, p[n:]
		i++
	}
	return p, nil
}

// Uvarint32 reads a varint of up to 32 bits. It returns the value and the number of bytes read,
// or 0 bytes if there is no valid one.
func Uvarint32(p []byte) (uint32, int) {
	if len(p) > 0 && p[0] < 0x80 {
		return uint32(p[0]), 1
	}
	if len(p) > 1 && p[1] < 0x80 {
		return uint32(p[0]&0x7f) | uint32(p[1])<<7, 2
	}
	v, n := binary.Uvarint(p)
	if n <= 0 || v > 1<<32-1 {
		return 0, 0
	}
	return uint32(v), n
}
