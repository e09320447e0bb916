package pdf

import (
	"bytes"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// maxPath is the maximum length of a path. The paths of this package are much shorter.
const maxPath = 256

// cstring returns the zero-terminated string at address, or "" if it has no terminating zero.
func cstring(m api.Memory, address uint64) string {
	length := uint64(maxPath)
	if rest := uint64(m.Size()) - min(uint64(m.Size()), uint64(uint32(address))); rest < length {
		length = rest
	}
	b := bytesAt(m, address, length)
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return string(b[:end])
	}
	return ""
}

// openat implements openat(directory, path, flags, mode). It opens files only for reading.
func openat(in *instance, m api.Memory, a []uint64) int32 {
	const accessMode = 3
	if uint32(a[2])&accessMode != 0 {
		return -errnoROFS
	}
	return in.files.open(cstring(m, a[1]))
}

// fstat implements fstat(fd, buffer).
func fstat(in *instance, m api.Memory, a []uint64) int32 {
	h := in.files.handles[int32(uint32(a[0]))]
	if h == nil {
		return -errnoBadFD
	}
	return putStat(m, a[1], h.file.size)
}

// stat implements stat(path, buffer).
func stat(in *instance, m api.Memory, a []uint64) int32 {
	f := in.files.byPath[cstring(m, a[0])]
	if f == nil {
		return -errnoNoEnt
	}
	return putStat(m, a[1], f.size)
}

// statat implements fstatat(directory, path, buffer, flags).
func statat(in *instance, m api.Memory, a []uint64) int32 { return stat(in, m, a[1:3]) }

// putStat fills Emscripten's struct stat, which has 96 bytes. The mode is a 32-bit number at offset
// 4, and the size is a 64-bit number at offset 24.
func putStat(m api.Memory, address uint64, size int64) int32 {
	const regularReadOnly = 0o100444
	b := bytesAt(m, address, 96)
	clear(b)
	binary.LittleEndian.PutUint32(b[4:], regularReadOnly)
	binary.LittleEndian.PutUint64(b[24:], uint64(size))
	return 0
}

// fdClose implements fd_close(fd).
func fdClose(in *instance, _ api.Memory, a []uint64) int32 {
	fd := int32(uint32(a[0]))
	if in.files.handles[fd] == nil {
		return errnoBadFD
	}
	delete(in.files.handles, fd)
	return 0
}

// fdRead implements fd_read(fd, vectors, count, sum). A vector is a 32-bit address and a 32-bit
// length.
func fdRead(in *instance, m api.Memory, a []uint64) int32 {
	h := in.files.handles[int32(uint32(a[0]))]
	if h == nil {
		return errnoBadFD
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

// fdWrite implements fd_write(fd, vectors, count, sum). It discards PDFium's messages.
func fdWrite(in *instance, m api.Memory, a []uint64) int32 {
	if in.files.handles[int32(uint32(a[0]))] != nil {
		return errnoBadFD
	}
	sum := 0
	for _, p := range vectors(m, a[1], a[2]) {
		sum += len(p)
	}
	put32(m, a[3], uint32(sum))
	return 0
}

// maxVectors is the value of IOV_MAX in musl.
const maxVectors = 1024

// vectors returns the memory that the vectors at address refer to. count is their number.
func vectors(m api.Memory, address, count uint64) [][]byte {
	if uint32(count) > uint32(maxVectors) {
		panic(errOutOfBounds)
	}
	list := bytesAt(m, address, 8*uint64(uint32(count)))
	var found [][]byte
	for ; len(list) > 0; list = list[8:] {
		at, length := binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])
		found = append(found, bytesAt(m, uint64(at), uint64(length)))
	}
	return found
}

// fdSeek implements fd_seek(fd, offset low, offset high, whence, position). This build of PDFium
// passes the 64-bit offset as two numbers.
func fdSeek(in *instance, m api.Memory, a []uint64) int32 {
	h := in.files.handles[int32(uint32(a[0]))]
	if h == nil {
		return errnoBadFD
	}
	offset := int64(uint64(uint32(a[1])) | uint64(uint32(a[2]))<<32)
	pos, ok := h.seek(offset, uint32(a[3]))
	if !ok {
		return errnoInval
	}
	binary.LittleEndian.PutUint64(bytesAt(m, a[4], 8), uint64(pos))
	return 0
}
