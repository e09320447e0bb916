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

	word      bool
	count     uint32
	prev      uint32 // last document of the block before
	list      [blockDocs]uint32
	times     [blockDocs]uint32
	held      int
	postings  int64 // where those of the term begin
	positions int64
	skips     []byte
	buf       []byte
}

// NewWriter begins a segment in an empty file. Errors are told by Finish.
func NewWriter(f File) *Writer {
	p := newPageWriter(f)
	return &Writer{pages: p, dict: dictionaryWriter{pages: p}}
}

// mostWords is the greatest length of a document that tells it from longer ones: two
// bytes for each are read whenever a word is weighed.
const mostWords = 1<<16 - 1

// Document writes what is known of the next document, and returns its number. A longer
// one counts as of mostWords.
func (w *Writer) Document(key uint64, group uint8, date int32, words uint32) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	w.pages.write(streamKeys, b[:])
	w.pages.write(streamGroups, []byte{group})
	binary.LittleEndian.PutUint32(b[:], uint32(date))
	w.pages.write(streamDates, b[:4])
	words = min(words, mostWords)
	binary.LittleEndian.PutUint16(b[:], uint16(words))
	w.pages.write(streamLengths, b[:2])
	w.words += uint64(words)
	w.docs++
	return w.docs - 1
}

// Key writes the next of the keys in ascending order, and its document.
func (w *Writer) Key(key uint64, doc uint32) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	w.pages.write(streamSorted, b[:])
	binary.LittleEndian.PutUint32(b[:], doc)
	w.pages.write(streamNumbers, b[:4])
}

// Begin begins a term, which may be a word.
func (w *Writer) Begin(word bool) {
	w.word, w.count, w.held, w.prev = word, 0, 0, ^uint32(0)
	w.postings, w.positions = w.pages.lengths[streamPostings], w.pages.lengths[streamPositions]
	w.skips = w.skips[:0]
}

// Add adds a document to the term, with its positions as they are written.
func (w *Writer) Add(doc, times uint32, positions []byte) {
	if w.held == blockDocs {
		w.flush()
	}
	w.list[w.held], w.times[w.held] = doc, times
	w.held++
	w.count++
	if w.word {
		w.pages.write(streamPositions, positions)
	}
}

// flush writes the block.
func (w *Writer) flush() {
	w.buf = appendGaps(w.buf[:0], w.prev, w.list[:w.held])
	if w.word {
		w.buf = appendNumbers(w.buf, w.times[:w.held])
	}
	w.pages.write(streamPostings, w.buf)
	w.prev, w.held = w.list[w.held-1], 0
	s := skip{last: w.prev}
	postings := w.pages.lengths[streamPostings] - w.postings
	if postings > 1<<32-1 && w.pages.err == nil {
		w.pages.err = fmt.Errorf("%d bytes of postings of one term", postings)
	}
	s.postings = uint32(postings)
	s.positions = uint64(w.pages.lengths[streamPositions] - w.positions)
	w.skips = s.append(w.skips)
}

// End ends the term, which is left out where it has no documents.
func (w *Writer) End(term []byte) {
	if w.count == 0 {
		return
	}
	e := Entry{Documents: w.count, Word: w.word}
	if w.count == 1 {
		e.doc, e.times = w.list[0], w.times[0]
	} else {
		w.flush()
		if len(w.skips) > skipSize {
			w.pages.write(streamPostings, w.skips)
		}
		e.postings.length = w.pages.lengths[streamPostings] - w.postings
	}
	e.places.length = w.pages.lengths[streamPositions] - w.positions
	w.dict.add(term, e)
}

// Finish ends the segment, gives it its number and syncs it; the caller closes the file.
func (w *Writer) Finish(number uint64) (Stamp, error) {
	w.dict.flush()
	size, sum, err := w.pages.finish(number, w.docs, w.words)
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{Number: number, Size: size, Sum: sum, Docs: w.docs}, w.pages.file.Sync()
}
