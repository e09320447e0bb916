package segment

import (
	"encoding/binary"
	"fmt"
	"io"
)

// File is the destination of a segment. It is written sequentially.
type File interface {
	io.Writer
	Sync() error
}

// Writer writes a segment. Documents, keys, and terms must each be added in order, but calls for
// the three may be interleaved.
type Writer struct {
	pages *pageWriter
	dict  dictionaryWriter
	docs  uint32
	words uint64

	hasPositions bool
	docFreq      uint32
	prevLast     uint32 // last document of the previous block
	blockDocs    [blockSize]uint32
	freqs        [blockSize]uint32
	blockLen     int
	postings     int64 // offset of the postings of the current term in their stream
	positions    int64
	skips        []byte
	buf          []byte
}

// NewWriter returns a Writer that writes to an empty file. Finish returns any write error.
func NewWriter(f File) *Writer {
	p := newPageWriter(f)
	return &Writer{pages: p, dict: dictionaryWriter{pages: p}}
}

// maxDocWords is the largest document length that is stored exactly. Longer documents are stored
// with this length. A stored length takes only two bytes, which keeps scoring fast.
const maxDocWords = 1<<16 - 1

// AddDocument adds the next document and returns its number. If words is greater than maxDocWords,
// maxDocWords is stored.
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

// AddKey adds the next key, in ascending order, and the number of its document.
func (w *Writer) AddKey(key uint64, doc uint32) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	w.pages.write(streamSorted, b[:])
	binary.LittleEndian.PutUint32(b[:], doc)
	w.pages.write(streamNumbers, b[:4])
}

// StartTerm starts the posting list of the next term. hasPositions says whether the list has
// positions.
func (w *Writer) StartTerm(hasPositions bool) {
	w.hasPositions, w.docFreq, w.blockLen, w.prevLast = hasPositions, 0, 0, ^uint32(0)
	w.postings, w.positions = w.pages.lengths[streamPostings], w.pages.lengths[streamPositions]
	w.skips = w.skips[:0]
}

// AddPosting adds a document to the posting list of the current term. positions must already be
// encoded.
func (w *Writer) AddPosting(doc, freq uint32, positions []byte) {
	if w.blockLen == blockSize {
		w.flush()
	}
	w.blockDocs[w.blockLen], w.freqs[w.blockLen] = doc, freq
	w.blockLen++
	w.docFreq++
	if w.hasPositions {
		w.pages.write(streamPositions, positions)
	}
}

// flush writes the current block.
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
		w.pages.err = fmt.Errorf("posting list too large: %d bytes", postings)
	}
	s.postingsEnd = uint32(postings)
	s.positionsEnd = uint64(w.pages.lengths[streamPositions] - w.positions)
	w.skips = s.append(w.skips)
}

// EndTerm completes the current term. A term without documents is omitted.
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

// Finish completes the segment with the given number and syncs the file. It returns any error of
// earlier writes. The caller closes the file.
func (w *Writer) Finish(number uint64) (Meta, error) {
	w.dict.flush()
	size, sum, err := w.pages.finish(number, w.docs, w.words)
	if err != nil {
		return Meta{}, err
	}
	return Meta{Number: number, Size: size, Sum: sum, Docs: w.docs}, w.pages.file.Sync()
}
