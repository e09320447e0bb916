package document

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	blockSize  = 16 << 10 // divides the 64 KiB that one round trip to the keeper of the bytes brings
	blockSlots = 8
	chunkSize  = 64 << 10 // of a sequential pass
)

// errAllowance ends reading that no honest document needs; it is a finding
// about the document, not a fault of ours.
var errAllowance = errors.New("more reads than its size warrants")

// inspectSource reads a document through a few cached blocks. Parsers may take any
// failed read for a malformed document: whether it was one, or a fault of our
// own, err tells afterward.
type inspectSource struct {
	ctx     context.Context // of the one inspection that the source lives for: io.ReaderAt has no room for it
	doc     io.ReaderAt
	size    int64
	err     error // first failure of doc or ctx
	fetches int64 // still allowed
	slots   [blockSlots]slot
	clock   int64
}

type slot struct {
	block int64 // number of the block, valid when used > 0
	used  int64
	data  []byte
}

func newSource(ctx context.Context, doc io.ReaderAt, size int64) *inspectSource {
	// Jumping to and fro may read a document a few times over, not without end.
	return &inspectSource{ctx: ctx, doc: doc, size: size, fetches: 4*(size/blockSize) + 4096}
}

// ReadAt implements io.ReaderAt within the document's size.
func (s *inspectSource) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("negative offset")
	}
	n := 0
	for n < len(p) && off < s.size {
		data, err := s.block(off / blockSize)
		if err != nil {
			return n, err
		}
		c := copy(p[n:], data[off%blockSize:])
		n += c
		off += int64(c)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// at fills p from off and reports whether the document has so many bytes there.
func (s *inspectSource) at(p []byte, off int64) bool {
	if off < 0 || off > s.size-int64(len(p)) {
		return false
	}
	_, err := s.ReadAt(p, off)
	return err == nil
}

// head returns up to n first bytes.
func (s *inspectSource) head(n int) []byte {
	p := make([]byte, min(int64(n), s.size))
	if !s.at(p, 0) {
		return nil
	}
	return p
}

// block returns the cached block of that number, which begins within the document.
func (s *inspectSource) block(number int64) ([]byte, error) {
	s.clock++
	oldest := &s.slots[0]
	for i := range s.slots {
		slot := &s.slots[i]
		if slot.used > 0 && slot.block == number {
			slot.used = s.clock
			return slot.data, nil
		}
		if slot.used < oldest.used {
			oldest = slot
		}
	}
	if s.fetches == 0 {
		return nil, errAllowance
	}
	s.fetches--
	if oldest.data == nil {
		oldest.data = make([]byte, blockSize)
	}
	oldest.used = 0
	off := number * blockSize
	oldest.data = oldest.data[:min(blockSize, s.size-off)]
	if err := s.fetch(oldest.data, off); err != nil {
		return nil, err
	}
	oldest.block, oldest.used = number, s.clock
	return oldest.data, nil
}

// fetch fills p from doc past the cache; its failures are ours.
func (s *inspectSource) fetch(p []byte, off int64) error {
	if s.err != nil {
		return s.err
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return s.err
	}
	n, err := s.doc.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	s.err = fmt.Errorf("read %d bytes at %d of %d: %w", len(p), off, s.size, err)
	return s.err
}

// inspectAllowance is a ReaderAt for a library that keeps what it reads: what it may
// read in all bounds what it may hold.
type inspectAllowance struct {
	io.ReaderAt
	left int64
}

func (a *inspectAllowance) ReadAt(p []byte, off int64) (int, error) {
	if a.left -= int64(len(p)); a.left < 0 {
		return 0, errAllowance
	}
	return a.ReaderAt.ReadAt(p, off)
}
