package sandbox

import (
	"bufio"
	"container/list"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// unitSize is the minimum size of a read and the size of a cached unit. It is small because
	// random access to a large document needs only a little data at a time.
	unitSize = 4 << 10
	// maxCachedUnits is the number of units that a worker caches per document: 8 MiB.
	maxCachedUnits = 2048
	// smallDocument is the maximum size of a document for which every read fetches a complete
	// block. For such documents, fewer round trips matter more than fewer bytes.
	smallDocument = 16 * blockSize
)

// errUnreadable reports that the parent could not read the document.
var errUnreadable = errors.New("document bytes are not available")

// remoteDoc is the worker's view of the document. It reads ranges from the parent and caches the
// most recently used units. It is not safe for concurrent use.
//
// A read fetches at least one unit. If it continues a cached range, it fetches twice as much as the
// previous read, up to a block. Random reads therefore transfer little data, and sequential reads
// need few round trips. Reads at regular intervals also fetch the next steps (addReadahead).
type remoteDoc struct {
	w         io.Writer
	r         *bufio.Reader
	size      int64
	buf       []byte     // for frames
	lru       *list.List // of *cachedUnit, most recently used first
	cached    map[int64]*list.Element
	readahead readahead
	err       error // permanent error of the pipe or the parent
}

// cachedUnit is one unit of the document.
type cachedUnit struct {
	offset    int64
	requested int // length of the request that fetched it
	data      []byte
}

func newRemoteDoc(w io.Writer, r *bufio.Reader, size int64) *remoteDoc {
	return &remoteDoc{w: w, r: r, size: size, lru: list.New(), cached: make(map[int64]*list.Element)}
}

// ReadAt implements io.ReaderAt.
func (rd *remoteDoc) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("invalid offset %d", off)
	}
	rd.readahead.observe(off)
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if at >= rd.size {
			return n, io.EOF
		}
		start := at - at%unitSize
		data, err := rd.unit(start, at+int64(len(p)-n))
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at-start:])
	}
	return n, nil
}

// unit returns the unit at offset. end is where the read that needs it ends.
func (rd *remoteDoc) unit(offset, end int64) ([]byte, error) {
	if e, kept := rd.cached[offset]; kept {
		rd.lru.MoveToFront(e)
		return e.Value.(*cachedUnit).data, nil
	}
	if rd.err != nil {
		return nil, rd.err
	}
	ranges := append(make([]byteRange, 0, maxRanges), byteRange{offset, int(rd.requestLength(offset, end))})
	ranges = rd.addReadahead(ranges)
	content, err := rd.fetch(ranges)
	if err != nil {
		if !errors.Is(err, errUnreadable) {
			rd.err = err
		}
		return nil, err
	}
	// Cache the ranges in reverse order, so that the unit needed now is the last one to be evicted.
	for i := len(ranges) - 1; i >= 0; i-- {
		p := ranges[i]
		rest := len(content) - p.length
		for at := (p.length - 1) / unitSize * unitSize; at >= 0; at -= unitSize {
			rd.cache(p.offset+int64(at), p.length, content[rest+at:rest+min(at+unitSize, p.length)])
		}
		content = content[:rest]
	}
	return rd.cached[offset].Value.(*cachedUnit).data, nil
}

// requestLength returns the number of bytes to request at offset. The request ends before the next
// cached unit.
func (rd *remoteDoc) requestLength(offset, end int64) int64 {
	want := (end - offset + unitSize - 1) / unitSize * unitSize
	if rd.size <= smallDocument {
		want = blockSize - offset%blockSize
	} else if e, kept := rd.cached[offset-unitSize]; kept {
		want = max(want, 2*int64(e.Value.(*cachedUnit).requested))
	}
	want = min(want, blockSize)
	for n := int64(unitSize); n < want; n += unitSize {
		if _, kept := rd.cached[offset+n]; kept {
			want = n
		}
	}
	return min(want, rd.size-offset)
}

func (rd *remoteDoc) fetch(ranges []byteRange) ([]byte, error) {
	length := 0
	for _, p := range ranges {
		length += p.length
	}
	if err := writeFrame(rd.w, frameRead, encodeRead(ranges...)); err != nil {
		return nil, err
	}
	kind, content, err := readFrame(rd.r, &rd.buf)
	switch {
	case err != nil:
		return nil, err
	case kind == frameUnreadable:
		return nil, errUnreadable
	case kind != frameData || len(content) != length:
		return nil, protocolError("unexpected frame %q with %d bytes; requested %d bytes", kind, len(content), length)
	}
	return content, nil
}

// cache stores a copy of data. If the cache is full, the least recently used unit is evicted.
func (rd *remoteDoc) cache(offset int64, asked int, data []byte) {
	if rd.lru.Len() < maxCachedUnits {
		rd.cached[offset] = rd.lru.PushFront(&cachedUnit{offset, asked, append(make([]byte, 0, unitSize), data...)})
		return
	}
	e := rd.lru.Back()
	p := e.Value.(*cachedUnit)
	delete(rd.cached, p.offset)
	p.offset, p.requested, p.data = offset, asked, append(p.data[:0], data...)
	rd.lru.MoveToFront(e)
	rd.cached[offset] = e
}

// readahead detects reads at regular intervals, such as when each page of a scan is read in turn.
type readahead struct {
	lastJump int64 // offset of the last read that was a jump
	step     int64
	repeats  int // number of consecutive steps with about the same length
}

// stepTolerance is the maximum difference in bytes between two steps that count as equal. Similar
// objects don't have exactly the same length.
const stepTolerance = unitSize / 4

// observe records the offset of a read. A read near the last jump does not count as a jump.
func (r *readahead) observe(off int64) {
	step := off - r.lastJump
	if distance(step, 0) < unitSize {
		return
	}
	if distance(step, r.step) <= stepTolerance {
		r.repeats++
	} else {
		r.repeats = 0
	}
	r.lastJump, r.step = off, step
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// stepWindow is the number of bytes to fetch at each step.
const stepWindow = 512

// addReadahead adds the units at the next expected steps to ranges and returns them. The longer the
// pattern lasts, the more steps it adds.
func (rd *remoteDoc) addReadahead(ranges []byteRange) []byteRange {
	if rd.size <= smallDocument || ranges[0].length > 2*unitSize {
		return ranges
	}
	at, space := rd.readahead.lastJump, blockSize-ranges[0].length
	for range rd.readaheadSteps() {
		at += rd.readahead.step
		for start := at - at%unitSize; start >= 0 && start < min(at+stepWindow, rd.size); start += unitSize {
			length := int(min(unitSize, rd.size-start))
			if rd.cached[start] != nil || slices.ContainsFunc(ranges, byteRange{start, length}.overlaps) {
				continue
			}
			if space < length || len(ranges) == maxRanges {
				return ranges
			}
			space -= length
			ranges = append(ranges, byteRange{start, length})
		}
	}
	return ranges
}

// readaheadSteps returns the number of steps to read ahead.
func (rd *remoteDoc) readaheadSteps() int {
	if rd.readahead.repeats < 2 {
		return 0
	}
	return min(rd.readahead.repeats, maxRanges)
}

func (b byteRange) overlaps(q byteRange) bool {
	return b.offset < q.offset+int64(q.length) && q.offset < b.offset+int64(b.length)
}
