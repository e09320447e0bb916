package reader

import (
	"bufio"
	"container/list"
	"errors"
	"fmt"
	"io"
)

// keptBlocks is how many blocks of a document a child keeps: 8 MiB.
const keptBlocks = 128

// errLost says that the parent could not read the document.
var errLost = errors.New("the bytes cannot be had")

// blocks is a document as the child sees it: it asks the parent for blocks and
// keeps those used last. One goroutine uses it.
type blocks struct {
	w      io.Writer
	r      *bufio.Reader
	size   int64
	buf    []byte // of frames
	recent *list.List
	byOff  map[int64]*list.Element
	broken error // the pipe's or the parent's fault, for good
}

type block struct {
	offset int64
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
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if at >= b.size {
			return n, io.EOF
		}
		start := at - at%blockSize
		data, err := b.block(start)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at-start:])
	}
	return n, nil
}

// block returns the block that begins at offset.
func (b *blocks) block(offset int64) ([]byte, error) {
	if e, kept := b.byOff[offset]; kept {
		b.recent.MoveToFront(e)
		return e.Value.(*block).data, nil
	}
	if b.broken != nil {
		return nil, b.broken
	}
	content, err := b.ask(offset, int(min(blockSize, b.size-offset)))
	if err != nil {
		if !errors.Is(err, errLost) {
			b.broken = err
		}
		return nil, err
	}
	return b.keep(offset, content), nil
}

func (b *blocks) ask(offset int64, length int) ([]byte, error) {
	if err := writeFrame(b.w, frameAsk, encodeAsk(offset, length)); err != nil {
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

// keep copies data into the cache, in the place of the block used longest ago
// when it is full.
func (b *blocks) keep(offset int64, data []byte) []byte {
	if b.recent.Len() < keptBlocks {
		kept := &block{offset, append([]byte(nil), data...)}
		b.byOff[offset] = b.recent.PushFront(kept)
		return kept.data
	}
	e := b.recent.Back()
	kept := e.Value.(*block)
	delete(b.byOff, kept.offset)
	kept.offset, kept.data = offset, append(kept.data[:0], data...)
	b.recent.MoveToFront(e)
	b.byOff[offset] = e
	return kept.data
}
