package segment

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
	length     int64   // size of the dictionary in bytes
	stride     int     // only every stride-th leaf is kept
	maxBytes   int
}

// find returns the range of the dictionary that can contain a term. ok is false if no leaf can
// contain it.
func (x *sparseIndex) find(term []byte) (from, to int64, ok bool) {
	n := x.leafAfter(term)
	if n == 0 {
		return 0, 0, false
	}
	to = x.length
	if n < len(x.offsets) {
		to = x.offsets[n]
	}
	return x.offsets[n-1], to, true
}

// leafAfter returns the index of the first leaf whose terms are all greater than term.
func (x *sparseIndex) leafAfter(term []byte) int {
	return sort.Search(len(x.ends), func(i int) bool { return bytes.Compare(x.separator(i), term) > 0 })
}

func (x *sparseIndex) separator(i int) []byte {
	if i == 0 {
		return x.separators[:x.ends[0]]
	}
	return x.separators[x.ends[i-1]:x.ends[i]]
}

func (x *sparseIndex) add(separator []byte, off int64) {
	if len(x.separators)+len(separator)+sparseEntryBytes*(len(x.ends)+1) > x.maxBytes {
		x.halve()
	}
	x.separators = append(x.separators, separator...)
	x.ends = append(x.ends, uint32(len(x.separators)))
	x.offsets = append(x.offsets, off)
}

// halve removes every second leaf from the index.
func (x *sparseIndex) halve() {
	var halved sparseIndex
	for i := 0; i < len(x.ends); i += 2 {
		halved.separators = append(halved.separators, x.separator(i)...)
		halved.ends = append(halved.ends, uint32(len(halved.separators)))
		halved.offsets = append(halved.offsets, x.offsets[i])
	}
	x.separators, x.ends, x.offsets = halved.separators, halved.ends, halved.offsets
	x.stride *= 2
}

// readSparse reads the sparse index of a dictionary. length is the size of the dictionary in bytes.
func readSparse(index byteReader, length int64, maxBytes int) (*sparseIndex, error) {
	x := &sparseIndex{length: length, stride: 1, maxBytes: maxBytes}
	r := bufio.NewReaderSize(io.NewSectionReader(readerAt{index}, 0, index.size()), pageSize)
	var term [MaxTermBytes]byte
	termLen := 0
	off := int64(0)
	for n := 0; ; n++ {
		shared, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		size, err := readSeparator(r, int(shared), &termLen, &term)
		if err != nil {
			return nil, fmt.Errorf("index of the dictionary: %w", err)
		}
		if size == 0 || size > uint64(length-off) {
			return nil, fmt.Errorf("index of the dictionary: %w: length of a leaf", ErrDamaged)
		}
		if n%x.stride == 0 {
			x.add(term[:termLen], off)
		}
		off += int64(size)
	}
	if off != length {
		return nil, fmt.Errorf("index of the dictionary: %w: ends at %d of %d", ErrDamaged, off, length)
	}
	return x, nil
}

func readSeparator(r *bufio.Reader, shared int, termLen *int, term *[MaxTermBytes]byte) (uint64, error) {
	added, err := r.ReadByte()
	if err != nil {
		return 0, truncated(err)
	}
	if shared > *termLen || shared+int(added) > MaxTermBytes {
		return 0, fmt.Errorf("%w: length of a term", ErrDamaged)
	}
	if _, err := io.ReadFull(r, term[shared:shared+int(added)]); err != nil {
		return 0, truncated(err)
	}
	*termLen = shared + int(added)
	size, err := binary.ReadUvarint(r)
	return size, truncated(err)
}

// truncated converts an error for the end of a stream to ErrDamaged. It returns other errors
// unchanged.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: cut off", ErrDamaged)
	}
	return err
}

// readerAt adapts a byteReader to io.ReaderAt.
type readerAt struct{ r byteReader }

func (a readerAt) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), a.r.size()-off))
	if n <= 0 {
		return 0, io.EOF
	}
	if err := a.r.readAt(p[:n], off); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
