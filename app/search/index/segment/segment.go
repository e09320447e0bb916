// Package segment is one segment of an inverted index, as it lies on the disk: a file
// that is written once and never changed, which tells of its documents which terms they
// have, how often and where. What it knows of terms and documents:
//
//	page.go        the file: streams, cut into pages, each with its checksum
//	dictionary.go  the terms, and what there is of each; sparse.go: where to look for one
//	block.go       the documents of a term, how often and where they have it
//	gone.go        documents that are left out, which a list of segments tells
//
// Writer writes one, from documents and terms in order, and Merge one out of several.
// Segment reads: Find and Lookup a term, Cursor its documents, Places its positions,
// Column what is known of documents.
//
// Documents are numbered from the latest, which is 0, to the earliest.
//
// Promises: every byte read has been checked, and what is wrong is ErrDamaged, never an
// answer; an open segment holds some bytes for a page and at most 4 MiB for its
// dictionary; whatever a file holds, reading it ends, within its bounds.
//
// Refuses: to know which segments there are, when they come, go and are merged, and what
// is asked of them (app/search/index); to keep where a term stands in a document beyond
// its first MaxPositions occurrences.
package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
)

// ErrDamaged says that what is on the disk is not what was written.
var ErrDamaged = errors.New("index damaged")

// MaxDocs is the most documents of a segment, so that numbers of 32 bits are enough
// everywhere.
const MaxDocs = 1 << 28

// MaxTermBytes is the most bytes of a term; the least is one.
const MaxTermBytes = 64

// Meta tells a segment from any other. Whoever lists segments keeps it.
type Meta struct {
	Number uint64
	Size   int64  // bytes of the file
	Sum    uint32 // of its footer
	Docs   uint32 // documents, those that are gone among them
}

// minDocBytes is how many bytes a document has at least, those of its columns (page.go).
const minDocBytes = 8 + 1 + 4 + 2 + 8 + 4

// Plausible reports whether a segment of so many bytes can have so many documents.
func (s Meta) Plausible() bool {
	return s.Docs > 0 && s.Docs <= MaxDocs && s.Size >= footerSize+minDocBytes*int64(s.Docs)
}

// Segment is an open segment. It is safe for many goroutines.
type Segment struct {
	*pageFile
	sparse *sparseIndex
	minKey uint64 // least key
	maxKey uint64 // greatest key
}

// Open opens a segment, whose pages are read through the cache. Errors: ErrDamaged and
// those of the operating system.
func Open(path string, stamp Meta, c *Cache) (*Segment, error) {
	p, err := openPages(path, stamp.Number, stamp.Size, stamp.Sum, c)
	if err != nil {
		return nil, err
	}
	s := &Segment{pageFile: p}
	if err := s.load(stamp.Docs); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(path), err), p.file.Close())
	}
	return s, nil
}

// Close closes the file; nobody reads any more.
func (s *Segment) Close() error { return s.file.Close() }

// Documents is how many documents it has, those that are gone among them.
func (s *Segment) Documents() uint32 { return s.docs }

// Words is how many words its documents have, those that are gone among them.
func (s *Segment) Words() uint64 { return s.words }

// Key returns the key of a document.
func (s *Segment) Key(doc uint32) (uint64, error) { return s.u64(streamKeys, doc) }

// load reads what is held in memory.
func (s *Segment) load(docs uint32) error {
	n := int64(s.docs)
	l := &s.lengths
	if s.docs != docs || n == 0 || n > MaxDocs || l[streamKeys] != 8*n || l[streamGroups] != n || l[streamDates] != 4*n ||
		l[streamLengths] != 2*n || l[streamSorted] != 8*n || l[streamNumbers] != 4*n {
		return fmt.Errorf("%w: %d documents", ErrDamaged, n)
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

// FindKey returns the document of a key. Of ascending keys, from is what the call
// before returned.
func (s *Segment) FindKey(key uint64, from uint32) (doc uint32, found bool, next uint32, err error) {
	if key < s.minKey || key > s.maxKey {
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
