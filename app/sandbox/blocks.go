package sandbox

import (
	"bufio"
	"container/list"
	"errors"
	"fmt"
	"io"
)

const (
	// unit is the least that a child asks for and the piece that it keeps. Whoever
	// jumps about in a large document wants no more.
	unit = 4 << 10
	// keptUnits is how many units of a document a child keeps: 8 MiB.
	keptUnits = 2048
	// smallDocument is up to where every ask is for a whole block: fewer asks are
	// worth more than fewer bytes.
	smallDocument = 16 * blockSize
)

// errLost says that the parent could not read the document.
var errLost = errors.New("the bytes cannot be had")

// blocks is a document as the child sees it: it asks the parent for it in parts
// and keeps what was used last. One goroutine uses it.
//
// An ask is for one unit, and for twice as much as the last time, up to a block,
// where it goes on from what is kept: scattered reads cost little, a pass from
// end to end few asks. Who jumps in steps of one length, as over the pages of a
// scan, gets the next steps with this one (stride.go).
type blocks struct {
	w      io.Writer
	r      *bufio.Reader
	size   int64
	buf    []byte     // of frames
	recent *list.List // of *piece, the one used last in front
	byOff  map[int64]*list.Element
	stride stride
	broken error // the pipe's or the parent's fault, for good
}

// piece is one unit of the document.
type piece struct {
	offset int64
	asked  int // length of the part that brought it
	data   []byte
}

func newBlocks(w io.Writer, r *bufio.Reader, size int64) *blocks {
	return &blocks{w: w, r: r, size: size, recent: list.New(), byOff: make(map[int64]*list.Element)}
}

// ReadAt implements io.ReaderAt.
func (b *blocks) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read at %d", off)
	}
	b.stride.see(off)
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if at >= b.size {
			return n, io.EOF
		}
		start := at - at%unit
		data, err := b.piece(start, at+int64(len(p)-n))
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at-start:])
	}
	return n, nil
}

// piece returns the unit that begins at offset, for a read that goes up to end.
func (b *blocks) piece(offset, end int64) ([]byte, error) {
	if e, kept := b.byOff[offset]; kept {
		b.recent.MoveToFront(e)
		return e.Value.(*piece).data, nil
	}
	if b.broken != nil {
		return nil, b.broken
	}
	parts := append(make([]part, 0, mostParts), part{offset, int(b.length(offset, end))})
	parts = b.ahead(parts)
	content, err := b.ask(parts)
	if err != nil {
		if !errors.Is(err, errLost) {
			b.broken = err
		}
		return nil, err
	}
	// Backwards, so that the unit that is waited for is the last to be forgotten.
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		rest := len(content) - p.length
		for at := (p.length - 1) / unit * unit; at >= 0; at -= unit {
			b.keep(p.offset+int64(at), p.length, content[rest+at:rest+min(at+unit, p.length)])
		}
		content = content[:rest]
	}
	return b.byOff[offset].Value.(*piece).data, nil
}

// length is how much to ask for at offset, up to what is kept already.
func (b *blocks) length(offset, end int64) int64 {
	want := (end - offset + unit - 1) / unit * unit
	if b.size <= smallDocument {
		want = blockSize - offset%blockSize
	} else if e, kept := b.byOff[offset-unit]; kept {
		want = max(want, 2*int64(e.Value.(*piece).asked))
	}
	want = min(want, blockSize)
	for n := int64(unit); n < want; n += unit {
		if _, kept := b.byOff[offset+n]; kept {
			want = n
		}
	}
	return min(want, b.size-offset)
}

func (b *blocks) ask(parts []part) ([]byte, error) {
	length := 0
	for _, p := range parts {
		length += p.length
	}
	if err := writeFrame(b.w, frameAsk, encodeAsk(parts...)); err != nil {
		return nil, err
	}
	kind, content, err := readFrame(b.r, &b.buf)
	switch {
	case err != nil:
		return nil, err
	case kind == frameLost:
		return nil, errLost
	case kind != frameBlock || len(content) != length:
		return nil, breach("frame %q of %d bytes for an ask of %d", kind, len(content), length)
	}
	return content, nil
}

// keep copies data into the cache, in the place of the unit used longest ago
// when it is full.
func (b *blocks) keep(offset int64, asked int, data []byte) {
	if b.recent.Len() < keptUnits {
		b.byOff[offset] = b.recent.PushFront(&piece{offset, asked, append(make([]byte, 0, unit), data...)})
		return
	}
	e := b.recent.Back()
	p := e.Value.(*piece)
	delete(b.byOff, p.offset)
	p.offset, p.asked, p.data = offset, asked, append(p.data[:0], data...)
	b.recent.MoveToFront(e)
	b.byOff[offset] = e
}
