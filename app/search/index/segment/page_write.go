package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A segment file contains several streams. The streams grow at the same time, but the file is
// written only once, from start to end. So each stream is split into pages, and a page is written
// to the file when it is full. All numbers are little-endian, and all checksums are CRC-32C.
//
//	file   := page* tail* table footer
//	page   := 16384 bytes of one stream
//	tail   := the last bytes of a stream that does not end at a page boundary, in stream order
//	table  := stream u8 of every page, sum u32 of every page, sum u32 of every tail
//	footer := "dkposts\n", format u32, number of the segment u64, documents u32,
//	          words u64, length u64 of every stream, sum u32 of the table,
//	          sum u32 of the footer up to here
//
// The manifest stores the size of the file and the checksum of the footer. The footer stores the
// checksum of the table, and the table stores the checksums of all pages. This detects both changed
// bytes and swapped pages or files. When you increment footerFormat, also increment manifestFormat
// (app/search/index). Only the manifest format distinguishes an index of another version from a
// damaged one.
const (
	pageBits = 14
	pageSize = 1 << pageBits
	pageMask = pageSize - 1

	footerMagic  = "dkposts\n"
	footerFormat = 1
	footerSize   = 8 + 4 + 8 + 4 + 8 + 8*streams + 4 + 4
)

// Streams of a segment. The file named next to a stream describes its contents.
const (
	streamTerms     = iota // dictionary.go
	streamIndex            // sparse.go
	streamPostings         // block.go
	streamPositions        // block.go
	streamKeys             // key of each document, u64
	streamGroups           // group of each document, u8
	streamDates            // date of each document, i32
	streamLengths          // number of words of each document, u16, up to 65,535
	streamSorted           // all keys in ascending order, u64
	streamNumbers          // document numbers in the order of the sorted keys, u32
	streams
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of p. All files of an index use it.
func Checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// footer is the end of a segment file.
type footer struct {
	number   uint64
	docs     uint32
	words    uint64 // number of words in all documents
	lengths  [streams]int64
	tableSum uint32 // checksum of the table
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

// layout returns the number of full pages, the number of tails, and the total size of the tails. ok
// reports whether size is exactly the size of a file whose streams have the lengths in f.lengths.
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

// pagesPerSync is the number of pages after which the file is synced. One large sync at the end of
// a merge would delay the syncs of other writers.
const pagesPerSync = 32 << 20 >> pageBits

// pageWriter writes the streams of a segment. finish returns the first error.
type pageWriter struct {
	file        File
	pending     [streams][]byte
	lengths     [streams]int64
	pageStreams []byte
	sums        []uint32
	err         error
}

func newPageWriter(f File) *pageWriter { return &pageWriter{file: f} }

// write appends p to a stream.
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

// finish writes the tails, the table, and the footer. It returns the size of the file and the
// checksum of the footer. It does not sync the file.
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
