package sandbox

import (
	"bufio"
	"container/list"
	"errors"
	"fmt"
	"io"
)

const (
	// unitSize is the least that a child asks for and the piece that it keeps. Whoever
	// jumps about in a large document wants no more.
	unitSize = 4 << 10
	// maxCachedUnits is how many units of a document a child keeps: 8 MiB.
	maxCachedUnits = 2048
	// smallDocument is up to where every ask is for a whole block: fewer asks are
	// worth more than fewer bytes.
	smallDocument = 16 * blockSize
)

// errUnreadable says that the parent could not read the document.
var errUnreadable = errors.New("the bytes cannot be had")

// remoteDoc is a document as the child sees it: it asks the parent for it in parts
// and keeps what was used last. One goroutine uses it.
//
// An ask is for one unit, and for twice as much as the last time, up to a block,
// where it goes on from what is kept: scattered reads cost little, a pass from
// end to end few asks. Who jumps in steps of one length, as over the pages of a
// scan, gets the next steps with this one (stride.go).
type remoteDoc struct {
	w         io.Writer
	r         *bufio.Reader
	size      int64
	buf       []byte     // of frames
	lru       *list.List // of *piece, the one used last in front
	cached    map[int64]*list.Element
	readahead readahead
	err       error // the pipe's or the parent's fault, for good
}

// cachedUnit is one unit of the document.
type cachedUnit struct {
	offset    int64
	requested int // length of the part that brought it
	data      []byte
}

func newRemoteDoc(w io.Writer, r *bufio.Reader, size int64) *remoteDoc {
	return &remoteDoc{w: w, r: r, size: size, lru: list.New(), cached: make(map[int64]*list.Element)}
}

// ReadAt implements io.ReaderAt.
func (b *remoteDoc) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read at %d", off)
	}
	b.readahead.observe(off)
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if at >= b.size {
			return n, io.EOF
		}
		start := at - at%unitSize
		data, err := b.unit(start, at+int64(len(p)-n))
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at-start:])
	}
	return n, nil
}

// unit returns the unit that begins at offset, for a read that goes up to end.
func (b *remoteDoc) unit(offset, end int64) ([]byte, error) {
	if e, kept := b.cached[offset]; kept {
		b.lru.MoveToFront(e)
		return e.Value.(*cachedUnit).data, nil
	}
	if b.err != nil {
		return nil, b.err
	}
	parts := append(make([]byteRange, 0, maxRanges), byteRange{offset, int(b.requestLength(offset, end))})
	parts = b.addReadahead(parts)
	content, err := b.fetch(parts)
	if err != nil {
		if !errors.Is(err, errUnreadable) {
			b.err = err
		}
		return nil, err
	}
	// Backwards, so that the unit that is waited for is the last to be forgotten.
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		rest := len(content) - p.length
		for at := (p.length - 1) / unitSize * unitSize; at >= 0; at -= unitSize {
			b.cache(p.offset+int64(at), p.length, content[rest+at:rest+min(at+unitSize, p.length)])
		}
		content = content[:rest]
	}
	return b.cached[offset].Value.(*cachedUnit).data, nil
}

// requestLength is how much to ask for at offset, up to what is kept already.
func (b *remoteDoc) requestLength(offset, end int64) int64 {
	want := (end - offset + unitSize - 1) / unitSize * unitSize
	if b.size <= smallDocument {
		want = blockSize - offset%blockSize
	} else if e, kept := b.cached[offset-unitSize]; kept {
		want = max(want, 2*int64(e.Value.(*cachedUnit).requested))
	}
	want = min(want, blockSize)
	for n := int64(unitSize); n < want; n += unitSize {
		if _, kept := b.cached[offset+n]; kept {
			want = n
		}
	}
	return min(want, b.size-offset)
}

func (b *remoteDoc) fetch(parts []byteRange) ([]byte, error) {
	length := 0
	for _, p := range parts {
		length += p.length
	}
	if err := writeFrame(b.w, frameRead, encodeRead(parts...)); err != nil {
		return nil, err
	}
	kind, content, err := readFrame(b.r, &b.buf)
	switch {
	case err != nil:
		return nil, err
	case kind == frameUnreadable:
		return nil, errUnreadable
	case kind != frameData || len(content) != length:
		return nil, protocolError("frame %q of %d bytes for an ask of %d", kind, len(content), length)
	}
	return content, nil
}

// cache copies data into the cache, in the place of the unit used longest ago
// when it is full.
func (b *remoteDoc) cache(offset int64, asked int, data []byte) {
	if b.lru.Len() < maxCachedUnits {
		b.cached[offset] = b.lru.PushFront(&cachedUnit{offset, asked, append(make([]byte, 0, unitSize), data...)})
		return
	}
	e := b.lru.Back()
	p := e.Value.(*cachedUnit)
	delete(b.cached, p.offset)
	p.offset, p.requested, p.data = offset, asked, append(p.data[:0], data...)
	b.lru.MoveToFront(e)
	b.cached[offset] = e
}
