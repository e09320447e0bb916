package postings

import "fmt"

// reader reads a stream of a segment. What lies outside of it is ErrDamaged: only
// what was read from the segment says where to read.
type reader interface {
	readAt(p []byte, off int64) error
	size() int64
}

// stream is one of the streams of a segment, read through the cache.
type stream struct {
	file   *pageFile
	length int64
	pages  []uint32
}

func (s *stream) size() int64 { return s.length }

func (s *stream) within(n int, off int64) error {
	if off < 0 || off > s.length || int64(n) > s.length-off {
		return fmt.Errorf("segment %d: %w: bytes %d to %d of %d", s.file.number, ErrDamaged, off, off+int64(n), s.length)
	}
	return nil
}

func (s *stream) readAt(p []byte, off int64) error {
	if err := s.within(len(p), off); err != nil {
		return err
	}
	for len(p) > 0 {
		at := int(off & pageMask)
		n := min(len(p), pageSize-at)
		if err := s.file.cache.read(s.file, s.pages[off>>pageBits], at, p[:n]); err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// passage reads a stream from front to back without the cache, so that a merge does
// not push out what searches need.
type passage struct {
	*stream
	page int // which page of the stream is in buf; -1 for none
	buf  []byte
	held []byte
}

func newPassage(s *stream) *passage { return &passage{stream: s, page: -1} }

func (r *passage) readAt(p []byte, off int64) error {
	if err := r.within(len(p), off); err != nil {
		return err
	}
	for len(p) > 0 {
		if page := int(off >> pageBits); page != r.page {
			if r.buf == nil {
				r.buf = make([]byte, pageSize)
			}
			held, err := r.file.read(r.pages[page], r.buf)
			if err != nil {
				r.page = -1
				return err
			}
			r.page, r.held = page, held
		}
		n := copy(p, r.held[off&pageMask:])
		p, off = p[n:], off+int64(n)
	}
	return nil
}
