// Package segment reads and writes the segment files of an inverted index. A segment file is
// written once and never changed. It stores a term dictionary and, for each term, a posting list:
// the documents that contain the term, how often, and at which positions. Only the first
// MaxPositions positions of a term in each document are stored.
//
//	page_write.go   the file format: streams split into pages, each with a checksum
//	dictionary.go   the term dictionary
//	sparse.go       the sparse index that locates a dictionary leaf
//	block.go        posting lists and positions
//	tombstones.go   the set of deleted documents, stored in the index manifest
//
// Writer writes a segment from documents and terms that are added in order. Merge writes a segment
// from several others. Segment reads a segment: Find and Lookup find a term, Cursor iterates over
// its posting list, Positions reads its positions, and Column reads per-document values.
//
// Documents are numbered from the newest, which is 0, to the oldest.
//
// Guarantees: Every byte is verified by a checksum before it is used, and a mismatch is returned as
// ErrDamaged. An open segment keeps a few bytes per page and up to 4 MiB of its dictionary in
// memory. Reading terminates and stays within bounds for any file contents.
//
// Out of scope: which segments exist, when they are merged, and how queries are evaluated
// (app/search/index).
package segment

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
)

// ErrDamaged means that the file on disk differs from what was written.
var ErrDamaged = errors.New("search index is damaged")

// MaxDocs is the maximum number of documents in a segment. It keeps document numbers within 32
// bits.
const MaxDocs = 1 << 28

// MaxTermBytes is the maximum length of a term in bytes. The minimum is 1.
const MaxTermBytes = 64

// Meta identifies a segment file. The manifest of the index stores it, in the order of the fields.
type Meta struct {
	Number uint64
	Size   int64  // file size in bytes
	Sum    uint32 // checksum of the footer
	Docs   uint32 // number of documents, including deleted ones
}

// minDocBytes is the number of bytes that one document takes in the columns (page_write.go).
const minDocBytes = 8 + 1 + 4 + 2 + 8 + 4

// Plausible reports whether a file of Size bytes can contain Docs documents.
func (m Meta) Plausible() bool {
	return m.Docs > 0 && m.Docs <= MaxDocs && m.Size >= footerSize+minDocBytes*int64(m.Docs)
}

// Segment is an open segment. It is safe for concurrent use.
type Segment struct {
	*pageFile
	sparse *sparseIndex
	minKey uint64 // smallest document key
	maxKey uint64 // largest document key
}

// Open opens the segment at path. Its pages are read through the cache. Open returns ErrDamaged or
// errors of the operating system.
func Open(path string, meta Meta, c *Cache) (*Segment, error) {
	p, err := openPages(path, meta.Number, meta.Size, meta.Sum, c)
	if err != nil {
		return nil, err
	}
	s := &Segment{pageFile: p}
	if err := s.load(meta.Docs); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(path), err), p.file.Close())
	}
	return s, nil
}

// Close closes the file. No reader may use the segment afterward.
func (s *Segment) Close() error { return s.file.Close() }

// Documents returns the number of documents, including deleted ones.
func (s *Segment) Documents() uint32 { return s.docs }

// Words returns the total number of words of all documents, including deleted ones.
func (s *Segment) Words() uint64 { return s.words }

// Key returns the key of a document.
func (s *Segment) Key(doc uint32) (uint64, error) { return s.u64(streamKeys, doc) }

// load checks the stream lengths and reads the parts of the segment that stay in memory.
func (s *Segment) load(docs uint32) error {
	n := int64(s.docs)
	l := &s.lengths
	if s.docs != docs || n == 0 || n > MaxDocs || l[streamKeys] != 8*n || l[streamGroups] != n || l[streamDates] != 4*n ||
		l[streamLengths] != 2*n || l[streamSorted] != 8*n || l[streamNumbers] != 4*n {
		return fmt.Errorf("%w: invalid document count %d", ErrDamaged, n)
	}
	var err error
	if s.sparse, err = readSparse(&s.streams[streamIndex], l[streamTerms], maxSparseBytes); err != nil {
		return err
	}
	if s.minKey, err = s.u64(streamSorted, 0); err != nil {
		return err
	}
	s.maxKey, err = s.u64(streamSorted, uint32(n-1))
	return err
}

func (s *Segment) u64(stream int, n uint32) (uint64, error) {
	var b [8]byte
	err := s.streams[stream].readAt(b[:], 8*int64(n))
	return binary.LittleEndian.Uint64(b[:]), err
}

func (s *Segment) u32(stream int, n uint32) (uint32, error) {
	var b [4]byte
	err := s.streams[stream].readAt(b[:], 4*int64(n))
	return binary.LittleEndian.Uint32(b[:]), err
}

// FindKey finds the document with the given key.
func (s *Segment) FindKey(key uint64) (doc uint32, found bool, err error) {
	if key < s.minKey || key > s.maxKey {
		return 0, false, nil
	}
	at, found := sort.Find(int(s.docs), func(i int) int {
		k, e := s.u64(streamSorted, uint32(i))
		err = cmp.Or(err, e)
		return cmp.Compare(key, k)
	})
	if err != nil || !found {
		return 0, false, err
	}
	if doc, err = s.u32(streamNumbers, uint32(at)); err == nil && doc >= s.docs {
		err = fmt.Errorf("segment %d: %w: invalid document number %d", s.number, ErrDamaged, doc)
	}
	return doc, true, err
}
