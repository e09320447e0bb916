package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A segment's file holds several streams, which grow side by side while it is written
// once from front to back. Each stream is cut into pages; a page goes to the file when
// it is full. All numbers are little-endian, all sums CRC-32C.
//
//	file   := page* tail* table footer
//	page   := 16384 bytes of one stream
//	tail   := the last bytes of a stream that does not end with a page, in the order of streams
//	table  := stream u8 of every page, sum u32 of every page, sum u32 of every tail
//	footer := "dkposts\n", format u32, number of the segment u64, documents u32,
//	          words u64, length u64 of every stream, sum u32 of the table,
//	          sum u32 of the footer to here
//
// The manifest knows the file's size and the footer's sum, the footer the table's, and
// the table that of every page: a byte that changed is noticed, and so is a page or a
// file in another's place. With footerFormat manifestFormat (app/search/index) is raised: that
// alone says that the program is another.
const (
	pageBits = 14
	pageSize = 1 << pageBits
	pageMask = pageSize - 1

	footerMagic  = "dkposts\n"
	footerFormat = 1
	footerSize   = 8 + 4 + 8 + 4 + 8 + 8*streams + 4 + 4
)

// The streams of a segment, each described where it is written.
const (
	streamTerms     = iota // dictionary.go
	streamIndex            // sparse.go
	streamPostings         // block.go
	streamPositions        // block.go
	streamKeys             // u64 of every document
	streamGroups           // u8 of every document
	streamDates            // i32 of every document
	streamLengths          // words of every document, u16, at most 65,535
	streamSorted           // the keys in ascending order, u64
	streamNumbers          // the documents of those, u32
	streams
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is CRC-32C, the sum of all that an index writes.
func Checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// footer is the end of a segment's file.
type footer struct {
	number   uint64
	docs     uint32
	words    uint64 // of all documents
	lengths  [streams]int64
	tableSum uint32 // sum of the table
}

func (f *footer) append(p []byte) []byte {
	start := len(p)
	p = append(p, footerMagic...)
	p = binary.LittleEndian.AppendUint32(p, footerFormat)
	p = binary.LittleEndian.AppendUint64(p, f.number)
	p = binary.LittleEndian.AppendUint32(p, f.docs)
	p = binary.LittleEndian.AppendUint64(p, f.words)
	for _, n := range f.lengths {
		p = binary.LittleEndian.AppendUint64(p, uint64(n))
	}
	p = binary.LittleEndian.AppendUint32(p, f.tableSum)
	return binary.LittleEndian.AppendUint32(p, Checksum(p[start:]))
}

// layout returns how many pages and tails the file has, and the bytes of the tails;
// and whether the lengths are possible in a file of that size.
func (f *footer) layout(size int64) (pages, tails int, bytes int64, ok bool) {
	var full int64
	for _, n := range f.lengths {
		if n < 0 || n > size {
			return 0, 0, 0, false
		}
		full += n >> pageBits
		if rest := n & pageMask; rest > 0 {
			tails++
			bytes += rest
		}
	}
	return int(full), tails, bytes, full*(pageSize+5)+bytes+4*int64(tails)+footerSize == size
}

// pagesPerSync bounds how much of a segment waits in the system's memory: a merge that left
// all to one sync at its end would hold up the syncs of others meanwhile.
const pagesPerSync = 32 << 20 >> pageBits

// pageWriter writes the streams of a segment. The first error stays, and finish says it.
type pageWriter struct {
	file        File
	pending     [streams][]byte
	lengths     [streams]int64
	pageStreams []byte
	sums        []uint32
	err         error
}

func newPageWriter(f File) *pageWriter { return &pageWriter{file: f} }

// write appends to a stream.
func (w *pageWriter) write(stream int, p []byte) {
	w.lengths[stream] += int64(len(p))
	for len(p) > 0 {
		n := min(len(p), pageSize-len(w.pending[stream]))
		w.pending[stream] = append(w.pending[stream], p[:n]...)
		p = p[n:]
		if len(w.pending[stream]) == pageSize {
			w.flushPage(stream)
		}
	}
}

func (w *pageWriter) flushPage(stream int) {
	p := w.pending[stream]
	w.pending[stream] = p[:0]
	w.pageStreams = append(w.pageStreams, byte(stream))
	w.writeChecked(p)
	if w.err == nil && len(w.pageStreams)%pagesPerSync == 0 {
		w.err = w.file.Sync()
	}
}

func (w *pageWriter) writeChecked(p []byte) {
	w.sums = append(w.sums, Checksum(p))
	w.writeRaw(p)
}

func (w *pageWriter) writeRaw(p []byte) {
	if w.err == nil {
		_, w.err = w.file.Write(p)
	}
}

// finish writes tails, table and footer, and returns the file's size and the footer's
// sum. It does not sync.
func (w *pageWriter) finish(number uint64, docs uint32, words uint64) (size int64, sum uint32, err error) {
	f := footer{number: number, docs: docs, words: words, lengths: w.lengths}
	for stream := range streams {
		if p := w.pending[stream]; len(p) > 0 {
			w.writeChecked(p)
			size += int64(len(p))
		}
	}
	table := append([]byte(nil), w.pageStreams...)
	for _, s := range w.sums {
		table = binary.LittleEndian.AppendUint32(table, s)
	}
	f.tableSum = Checksum(table)
	end := f.append(table)
	w.writeRaw(end)
	if w.err != nil {
		return 0, 0, fmt.Errorf("write segment %d: %w", number, w.err)
	}
	size += int64(len(w.pageStreams))<<pageBits + int64(len(end))
	return size, binary.LittleEndian.Uint32(end[len(end)-4:]), nil
}
