package segment

import (
	"encoding/binary"
	"fmt"
	"io"
)

// File is what a segment is written to, from front to back.
type File interface {
	io.Writer
	Sync() error
}

// Writer writes a segment: the documents in order, the keys in order, and the
// terms in order with their documents in order; these three in any.
type Writer struct {
	pages *pageWriter
	dict  dictionaryWriter
	docs  uint32
	words uint64

	hasPositions bool
	docFreq      uint32
	prevLast     uint32 // last document of the block before
	blockDocs    [blockSize]uint32
	freqs        [blockSize]uint32
	blockLen     int
	postings     int64 // where those of the term begin
	positions    int64
	skips        []byte
	buf          []byte
}

// NewWriter begins a segment in an empty file. Errors are told by Finish.
func NewWriter(f File) *Writer {
	p := newPageWriter(f)
	return &Writer{pages: p, dict: dictionaryWriter{pages: p}}
}

// maxDocWords is the greatest length of a document that tells it from longer ones: two
// bytes for each are read whenever a word is weighed.
const maxDocWords = 1<<16 - 1

// AddDocument writes what is known of the next document, and returns its number. A longer
// one counts as of maxDocWords.
func (w *Writer) AddDocument(key uint64, group uint8, date int32, words uint32) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	w.pages.write(streamKeys, b[:])
	w.pages.write(streamGroups, []byte{group})
	binary.LittleEndian.PutUint32(b[:], uint32(date))
	w.pages.write(streamDates, b[:4])
	words = min(words, maxDocWords)
	binary.LittleEndian.PutUint16(b[:], uint16(words))
	w.pages.write(streamLengths, b[:2])
	w.words += uint64(words)
	w.docs++
	return w.docs - 1
}

// AddKey writes the next of the keys in ascending order, and its document.
func (w *Writer) AddKey(key uint64, doc uint32) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	w.pages.write(streamSorted, b[:])
	binary.LittleEndian.PutUint32(b[:], doc)
	w.pages.write(streamNumbers, b[:4])
}

// StartTerm begins a term, which may be a word.
func (w *Writer) StartTerm(word bool) {
	w.hasPositions, w.docFreq, w.blockLen, w.prevLast = word, 0, 0, ^uint32(0)
	w.postings, w.positions = w.pages.lengths[streamPostings], w.pages.lengths[streamPositions]
	w.skips = w.skips[:0]
}

// AddPosting adds a document to the term, with its positions as they are written.
func (w *Writer) AddPosting(doc, times uint32, positions []byte) {
	if w.blockLen == blockSize {
		w.flush()
	}
	w.blockDocs[w.blockLen], w.freqs[w.blockLen] = doc, times
	w.blockLen++
	w.docFreq++
	if w.hasPositions {
		w.pages.write(streamPositions, positions)
	}
}

// flush writes the block.
func (w *Writer) flush() {
	w.buf = appendGaps(w.buf[:0], w.prevLast, w.blockDocs[:w.blockLen])
	if w.hasPositions {
		w.buf = appendUvarints(w.buf, w.freqs[:w.blockLen])
	}
	w.pages.write(streamPostings, w.buf)
	w.prevLast, w.blockLen = w.blockDocs[w.blockLen-1], 0
	s := skip{lastDoc: w.prevLast}
	postings := w.pages.lengths[streamPostings] - w.postings
	if postings > 1<<32-1 && w.pages.err == nil {
		w.pages.err = fmt.Errorf("%d bytes of postings of one term", postings)
	}
	s.postingsEnd = uint32(postings)
	s.positionsEnd = uint64(w.pages.lengths[streamPositions] - w.positions)
	w.skips = s.append(w.skips)
}

// EndTerm ends the term, which is left out where it has no documents.
func (w *Writer) EndTerm(term []byte) {
	if w.docFreq == 0 {
		return
	}
	e := Entry{DocFreq: w.docFreq, HasPositions: w.hasPositions}
	if w.docFreq == 1 {
		e.doc, e.freq = w.blockDocs[0], w.freqs[0]
	} else {
		w.flush()
		if len(w.skips) > skipSize {
			w.pages.write(streamPostings, w.skips)
		}
		e.postings.length = w.pages.lengths[streamPostings] - w.postings
	}
	e.positions.length = w.pages.lengths[streamPositions] - w.positions
	w.dict.add(term, e)
}

// Finish ends the segment, gives it its number and syncs it; the caller closes the file.
func (w *Writer) Finish(number uint64) (Meta, error) {
	w.dict.flush()
	size, sum, err := w.pages.finish(number, w.docs, w.words)
	if err != nil {
		return Meta{}, err
	}
	return Meta{Number: number, Size: size, Sum: sum, Docs: w.docs}, w.pages.file.Sync()
}
