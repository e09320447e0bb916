package postings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// mostDocs is the most documents of a segment, so that numbers of 32 bits are enough
// everywhere.
const mostDocs = 1 << 28

// segment is an open segment. It is closed when nobody uses it any more, and its file
// is then removed where it has been replaced.
type segment struct {
	*pageFile
	path   string
	sum    uint32
	sparse *sparse
	low    uint64 // least key
	high   uint64 // greatest key

	users atomic.Int64
	drop  atomic.Bool // remove the file at the end
	files files
}

const segmentSuffix = ".segment"

func segmentName(number uint64) string { return fmt.Sprintf("%06d%s", number, segmentSuffix) }

// openSegment opens a segment that the manifest lists; the caller is its first user.
func openSegment(dir string, l listed, c *cache, fs files) (*segment, error) {
	path := filepath.Join(dir, segmentName(l.number))
	p, err := openPages(path, l.number, l.size, l.sum, c)
	if err != nil {
		return nil, err
	}
	s := &segment{pageFile: p, path: path, sum: l.sum, files: fs}
	s.users.Store(1)
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", segmentName(l.number), err), p.file.Close())
	}
	return s, nil
}

// prepare reads what is held in memory.
func (s *segment) prepare() error {
	n := int64(s.docs)
	l := &s.lengths
	if n == 0 || n > mostDocs || l[streamKeys] != 8*n || l[streamGroups] != n || l[streamDates] != 4*n ||
		l[streamLengths] != 2*n || l[streamSorted] != 8*n || l[streamNumbers] != 4*n {
		return fmt.Errorf("%w: %d documents", ErrDamaged, n)
	}
	var err error
	if s.sparse, err = readSparse(&s.streams[streamIndex], l[streamTerms], mostSparse); err != nil {
		return err
	}
	if s.low, err = s.u64(streamSorted, 0); err != nil {
		return err
	}
	s.high, err = s.u64(streamSorted, uint32(n-1))
	return err
}

func (s *segment) u64(stream int, n uint32) (uint64, error) {
	var b [8]byte
	err := s.streams[stream].readAt(b[:], 8*int64(n))
	return binary.LittleEndian.Uint64(b[:]), err
}

func (s *segment) u32(stream int, n uint32) (uint32, error) {
	var b [4]byte
	err := s.streams[stream].readAt(b[:], 4*int64(n))
	return binary.LittleEndian.Uint32(b[:]), err
}

// lookUp returns the document of a key. Of ascending keys, from is what the call
// before returned.
func (s *segment) lookUp(key uint64, from uint32) (doc uint32, found bool, next uint32, err error) {
	if key < s.low || key > s.high {
		return 0, false, from, nil
	}
	low, high := from, s.docs
	for low < high {
		middle := low + (high-low)/2
		k, err := s.u64(streamSorted, middle)
		switch {
		case err != nil:
			return 0, false, from, err
		case k == key:
			doc, err := s.u32(streamNumbers, middle)
			if err == nil && doc >= s.docs {
				err = fmt.Errorf("segment %d: %w: document %d", s.number, ErrDamaged, doc)
			}
			return doc, true, middle, err
		case k < key:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false, low, nil
}

func (s *segment) acquire() { s.users.Add(1) }

func (s *segment) release() error {
	if s.users.Add(-1) > 0 {
		return nil
	}
	// Close before remove: Windows removes nothing that is open.
	err := s.file.Close()
	if s.drop.Load() {
		// What stays is removed by the next Open, since no manifest lists it.
		if removed := s.files.Remove(s.path); !errors.Is(removed, os.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}
