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

// The index of the dictionary tells where to look for a term.
//
//	index := of every leaf: bytes shared with the one before u8, bytes that follow u8,
//	         these, length of the leaf (a varint)
//
// The bytes separate: no term of an earlier leaf reaches them, none of the leaf is
// before them.

// maxSparseBytes is the most bytes of the index held in memory for a segment. Where there
// are more, only every second leaf is held, or every fourth, and more leaves are read.
const maxSparseBytes = 4 << 20

const sparseEntryBytes = 4 + 8 // bytes for a leaf besides its separator

// sparseIndex is the index of a dictionary in memory.
type sparseIndex struct {
	separators []byte // one behind the other
	ends       []uint32
	offsets    []int64 // of the leaves
	length     int64   // of the dictionary
	stride     int     // every how many leaves one is here
	maxBytes   int
}

// find returns from where to where to look for a term; false where it cannot be.
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

// leafAfter is the first of the leaves that only later terms are in.
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

// halve leaves out every second.
func (x *sparseIndex) halve() {
	var thinner sparseIndex
	for i := 0; i < len(x.ends); i += 2 {
		thinner.separators = append(thinner.separators, x.separator(i)...)
		thinner.ends = append(thinner.ends, uint32(len(thinner.separators)))
		thinner.offsets = append(thinner.offsets, x.offsets[i])
	}
	x.separators, x.ends, x.offsets = thinner.separators, thinner.ends, thinner.offsets
	x.stride *= 2
}

// readSparse reads the index of a dictionary of length bytes.
func readSparse(index byteReader, length int64, most int) (*sparseIndex, error) {
	x := &sparseIndex{length: length, stride: 1, maxBytes: most}
	r := bufio.NewReaderSize(io.NewSectionReader(readerAt{index}, 0, index.size()), pageSize)
	var term [MaxTermBytes]byte
	held := 0
	off := int64(0)
	for n := 0; ; n++ {
		shared, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		size, err := readSeparator(r, int(shared), &held, &term)
		if err != nil {
			return nil, fmt.Errorf("index of the dictionary: %w", err)
		}
		if size == 0 || size > uint64(length-off) {
			return nil, fmt.Errorf("index of the dictionary: %w: length of a leaf", ErrDamaged)
		}
		if n%x.stride == 0 {
			x.add(term[:held], off)
		}
		off += int64(size)
	}
	if off != length {
		return nil, fmt.Errorf("index of the dictionary: %w: ends at %d of %d", ErrDamaged, off, length)
	}
	return x, nil
}

func readSeparator(r *bufio.Reader, shared int, held *int, term *[MaxTermBytes]byte) (uint64, error) {
	more, err := r.ReadByte()
	if err != nil {
		return 0, truncated(err)
	}
	if shared > *held || shared+int(more) > MaxTermBytes {
		return 0, fmt.Errorf("%w: length of a term", ErrDamaged)
	}
	if _, err := io.ReadFull(r, term[shared:shared+int(more)]); err != nil {
		return 0, truncated(err)
	}
	*held = shared + int(more)
	size, err := binary.ReadUvarint(r)
	return size, truncated(err)
}

// truncated says that a stream ended too early.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: cut off", ErrDamaged)
	}
	return err
}

// readerAt is a reader for packages that know io.ReaderAt.
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
