package pdf

import (
	"errors"
	"fmt"
	"io"

	"deedkeep/app/wasm"
)

// file is a document that PDFium can open as a file.
type file struct {
	path string
	r    io.ReaderAt
	size int64
	err  error // first error of r; the document is not to blame
}

// handle is an open file and its position.
type handle struct {
	file *file
	pos  int64
}

// files is the file system of an instance. It contains only the open documents.
type files struct {
	last    int
	byPath  map[string]*file
	handles map[int32]*handle
	nextFD  int32
}

func newFiles() files {
	// Descriptors 0 to 2 are the standard streams, which aren't connected.
	return files{byPath: make(map[string]*file), handles: make(map[int32]*handle), nextFD: 3}
}

func (fs *files) add(r io.ReaderAt, size int64) *file {
	fs.last++
	f := &file{path: fmt.Sprintf("/%d.pdf", fs.last), r: r, size: size}
	fs.byPath[f.path] = f
	return f
}

func (fs *files) remove(f *file) {
	delete(fs.byPath, f.path)
	for fd, h := range fs.handles {
		if h.file == f {
			delete(fs.handles, fd)
		}
	}
}

// open returns a file descriptor, or a negative WASI error code.
func (fs *files) open(path string) int32 {
	f := fs.byPath[path]
	if f == nil {
		return -wasm.ErrnoNoEnt
	}
	fd := fs.nextFD
	fs.nextFD++
	fs.handles[fd] = &handle{file: f}
	return fd
}

// read fills p from the position of h. It returns fewer bytes only at the end of the file.
func (h *handle) read(p []byte) (int, error) {
	if h.pos >= h.file.size {
		return 0, nil
	}
	p = p[:min(int64(len(p)), h.file.size-h.pos)]
	n, err := h.file.r.ReadAt(p, h.pos)
	if n == len(p) {
		err = nil
	} else if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		if h.file.err == nil {
			h.file.err = err
		}
		return 0, err
	}
	h.pos += int64(n)
	return n, nil
}

// seek changes the position like lseek(2). ok is false if the new position would be before the
// start of the file.
func (h *handle) seek(offset int64, whence uint32) (pos int64, ok bool) {
	switch whence {
	case io.SeekCurrent:
		offset += h.pos
	case io.SeekEnd:
		offset += h.file.size
	case io.SeekStart:
	default:
		return 0, false
	}
	if offset < 0 {
		return 0, false
	}
	h.pos = offset
	return offset, true
}
