package wasm

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/tetratelabs/wazero/api"
)

// Files is the file system that an engine sees. It contains only the files that were added, and an
// engine can't change them. The zero value is an empty file system.
type Files struct {
	byPath  map[string]*File
	handles map[int32]*handle // open files by descriptor
	opened  int32             // number of files that were opened
}

// firstFD is the first descriptor of a file. Those before are the standard streams, which aren't
// connected.
const firstFD = 3

// File is a file in Files.
type File struct {
	Path string
	Err  error // first error of the reader; the content is not to blame

	r    io.ReaderAt
	size int64
}

// handle is an open file and its position.
type handle struct {
	file *File
	pos  int64
}

// Add adds a file of size bytes. The path starts with a slash.
func (fs *Files) Add(path string, r io.ReaderAt, size int64) *File {
	if fs.byPath == nil {
		fs.byPath, fs.handles = make(map[string]*File), make(map[int32]*handle)
	}
	f := &File{Path: path, r: r, size: size}
	fs.byPath[path] = f
	return f
}

// Remove removes a file, even if it is open.
func (fs *Files) Remove(f *File) {
	delete(fs.byPath, f.Path)
	for fd, h := range fs.handles {
		if h.file == f {
			delete(fs.handles, fd)
		}
	}
}

// handle returns the handle with the descriptor, or nil if no file has it.
func (fs *Files) handle(fd uint64) *handle { return fs.handles[int32(uint32(fd))] }

// OpenAt implements openat(directory, path, flags, mode). It opens files only for reading.
func (fs *Files) OpenAt(m api.Memory, a []uint64) int32 {
	const accessMode = 3
	if uint32(a[2])&accessMode != 0 {
		return -ErrnoROFS
	}
	f := fs.byPath[cString(m, a[1])]
	if f == nil {
		return -ErrnoNoEnt
	}
	fd := firstFD + fs.opened
	fs.opened++
	fs.handles[fd] = &handle{file: f}
	return fd
}

// FStat implements fstat(fd, buffer).
func (fs *Files) FStat(m api.Memory, a []uint64) int32 {
	h := fs.handle(a[0])
	if h == nil {
		return -ErrnoBadFD
	}
	putStat(m, a[1], h.file.size)
	return 0
}

// Stat implements stat(path, buffer).
func (fs *Files) Stat(m api.Memory, a []uint64) int32 {
	f := fs.byPath[cString(m, a[0])]
	if f == nil {
		return -ErrnoNoEnt
	}
	putStat(m, a[1], f.size)
	return 0
}

// StatAt implements fstatat(directory, path, buffer, flags).
func (fs *Files) StatAt(m api.Memory, a []uint64) int32 { return fs.Stat(m, a[1:3]) }

// Close implements fd_close(fd).
func (fs *Files) Close(_ api.Memory, a []uint64) int32 {
	if fs.handle(a[0]) == nil {
		return ErrnoBadFD
	}
	delete(fs.handles, int32(uint32(a[0])))
	return 0
}

// Read implements fd_read(fd, vectors, count, sum).
func (fs *Files) Read(m api.Memory, a []uint64) int32 {
	h := fs.handle(a[0])
	if h == nil {
		return ErrnoBadFD
	}
	sum := 0
	for _, p := range vectors(m, a[1], a[2]) {
		n, err := h.read(p)
		if err != nil {
			return errnoIO
		}
		sum += n
		if n < len(p) {
			break
		}
	}
	put32(m, a[3], uint32(sum))
	return 0
}

// Write implements fd_write(fd, vectors, count, sum). It discards the engine's messages.
func (fs *Files) Write(m api.Memory, a []uint64) int32 {
	if fs.handle(a[0]) != nil {
		return ErrnoBadFD
	}
	sum := 0
	for _, p := range vectors(m, a[1], a[2]) {
		sum += len(p)
	}
	put32(m, a[3], uint32(sum))
	return 0
}

// Seek implements fd_seek(fd, offset, whence, position).
func (fs *Files) Seek(m api.Memory, a []uint64) int32 {
	h := fs.handle(a[0])
	if h == nil {
		return ErrnoBadFD
	}
	pos, ok := h.seek(int64(a[1]), uint32(a[2]))
	if !ok {
		return errnoInval
	}
	binary.LittleEndian.PutUint64(Bytes(m, a[3], 8), uint64(pos))
	return 0
}

// SeekSplit is Seek for builds that pass the offset as two numbers, the lower one first.
func (fs *Files) SeekSplit(m api.Memory, a []uint64) int32 {
	offset := uint64(uint32(a[1])) | uint64(uint32(a[2]))<<32
	return fs.Seek(m, []uint64{a[0], offset, a[3], a[4]})
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
		if h.file.Err == nil {
			h.file.Err = err
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
