package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// The sparse index locates the leaf of the dictionary that can contain a term.
//
//	index := for every leaf: bytes shared with the previous separator u8, number of further bytes u8,
//	         these bytes, length of the leaf (a varint)
//
// A separator is a prefix that is greater than all terms of earlier leaves and not greater than any
// term of its own leaf.

// maxSparseBytes is the maximum memory used by the sparse index of one segment. If the index is
// larger, only every second leaf (or every fourth, and so on) is kept, and lookups read additional
// leaves.
const maxSparseBytes = 4 << 20

const sparseEntryBytes = 4 + 8 // bytes per leaf, excluding its separator

// sparseIndex is the sparse index of a dictionary in memory.
type sparseIndex struct {
	separators []byte // concatenated
	ends       []uint32
	offsets    []int64 // offsets of the leaves in the dictionary
	stride     int     // only every stride-th leaf is kept
	maxBytes   int
}

// leafAfter returns the index of the first leaf whose terms are all greater than term.
func (s *sparseIndex) leafAfter(term []byte) int {
	return sort.Search(len(s.ends), func(i int) bool { return bytes.Compare(s.separator(i), term) > 0 })
}

func (s *sparseIndex) separator(i int) []byte {
	if i == 0 {
		return s.separators[:s.ends[0]]
	}
	return s.separators[s.ends[i-1]:s.ends[i]]
}

func (s *sparseIndex) add(separator []byte, off int64) {
	if len(s.separators)+len(separator)+sparseEntryBytes*(len(s.ends)+1) > s.maxBytes {
		s.halve()
	}
	s.separators = append(s.separators, separator...)
	s.ends = append(s.ends, uint32(len(s.separators)))
	s.offsets = append(s.offsets, off)
}

// halve removes every second leaf from the index.
func (s *sparseIndex) halve() {
	var halved sparseIndex
	for i := 0; i < len(s.ends); i += 2 {
		halved.separators = append(halved.separators, s.separator(i)...)
		halved.ends = append(halved.ends, uint32(len(halved.separators)))
		halved.offsets = append(halved.offsets, s.offsets[i])
	}
	s.separators, s.ends, s.offsets = halved.separators, halved.ends, halved.offsets
	s.stride *= 2
}

// readSparse reads the sparse index of a dictionary. length is the size of the dictionary in bytes.
func readSparse(index *stream, length int64, maxBytes int) (*sparseIndex, error) {
	raw := make([]byte, index.length)
	if err := newSequentialReader(index).readAt(raw, 0); err != nil {
		return nil, err
	}
	x := &sparseIndex{stride: 1, maxBytes: maxBytes}
	var separator []byte
	off := int64(0)
	for n := 0; len(raw) > 0; n++ {
		if len(raw) < 2 || int(raw[0]) > len(separator) || int(raw[0])+int(raw[1]) > MaxTermBytes || 2+int(raw[1]) > len(raw) {
			return nil, fmt.Errorf("dictionary index: %w: invalid term length", ErrDamaged)
		}
		separator = append(separator[:raw[0]], raw[2:2+int(raw[1])]...)
		raw = raw[2+int(raw[1]):]
		size, width := binary.Uvarint(raw)
		if width <= 0 || size == 0 || size > uint64(length-off) {
			return nil, fmt.Errorf("dictionary index: %w: invalid leaf length", ErrDamaged)
		}
		if raw = raw[width:]; n%x.stride == 0 {
			x.add(separator, off)
		}
		off += int64(size)
	}
	if off != length {
		return nil, fmt.Errorf("dictionary index: %w: ends at byte %d, expected %d", ErrDamaged, off, length)
	}
	return x, nil
}
