package postings

import (
	"encoding/binary"
	"fmt"
)

// syncEach bounds how much of a segment waits in the system's memory: a merge that left
// all to one sync at its end would hold up the syncs of others meanwhile.
const syncEach = 32 << 20 >> pageBits

// pageWriter writes the streams of a segment. The first error stays, and finish says it.
type pageWriter struct {
	file    file
	pending [streams][]byte
	lengths [streams]int64
	owners  []byte
	sums    []uint32
	err     error
}

func newPageWriter(f file) *pageWriter { return &pageWriter{file: f} }

// write appends to a stream.
func (w *pageWriter) write(stream int, p []byte) {
	w.lengths[stream] += int64(len(p))
	for len(p) > 0 {
		n := min(len(p), pageSize-len(w.pending[stream]))
		w.pending[stream] = append(w.pending[stream], p[:n]...)
		p = p[n:]
		if len(w.pending[stream]) == pageSize {
			w.page(stream)
		}
	}
}

func (w *pageWriter) page(stream int) {
	p := w.pending[stream]
	w.pending[stream] = p[:0]
	w.owners = append(w.owners, byte(stream))
	w.put(p)
	if w.err == nil && len(w.owners)%syncEach == 0 {
		w.err = w.file.Sync()
	}
}

func (w *pageWriter) put(p []byte) {
	w.sums = append(w.sums, checksum(p))
	w.raw(p)
}

func (w *pageWriter) raw(p []byte) {
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
			w.put(p)
			size += int64(len(p))
		}
	}
	table := append([]byte(nil), w.owners...)
	for _, s := range w.sums {
		table = binary.LittleEndian.AppendUint32(table, s)
	}
	f.table = checksum(table)
	end := f.append(table)
	w.raw(end)
	if w.err != nil {
		return 0, 0, fmt.Errorf("write segment %d: %w", number, w.err)
	}
	size += int64(len(w.owners))<<pageBits + int64(len(end))
	return size, binary.LittleEndian.Uint32(end[len(end)-4:]), nil
}
