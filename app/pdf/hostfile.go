package pdf

import (
	"encoding/binary"

	"deedkeep/app/wasm"

	"github.com/tetratelabs/wazero/api"
)

// openat implements openat(directory, path, flags, mode). It opens files only for reading.
func openat(in *instance, m api.Memory, a []uint64) int32 {
	const accessMode = 3
	if uint32(a[2])&accessMode != 0 {
		return -wasm.ErrnoROFS
	}
	return in.files.open(wasm.CString(m, a[1]))
}

// fstat implements fstat(fd, buffer).
func fstat(in *instance, m api.Memory, a []uint64) int32 {
	h := in.files.handles[int32(uint32(a[0]))]
	if h == nil {
		return -wasm.ErrnoBadFD
	}
	wasm.PutStat(m, a[1], h.file.size)
	return 0
}

// stat implements stat(path, buffer).
func stat(in *instance, m api.Memory, a []uint64) int32 {
	f := in.files.byPath[wasm.CString(m, a[0])]
	if f == nil {
		return -wasm.ErrnoNoEnt
	}
	wasm.PutStat(m, a[1], f.size)
	return 0
}

// statat implements fstatat(directory, path, buffer, flags).
func statat(in *instance, m api.Memory, a []uint64) int32 { return stat(in, m, a[1:3]) }

// fdClose implements fd_close(fd).
func fdClose(in *instance, _ api.Memory, a []uint64) int32 {
	fd := int32(uint32(a[0]))
	if in.files.handles[fd] == nil {
		return wasm.ErrnoBadFD
	}
	delete(in.files.handles, fd)
	return 0
}

// fdRead implements fd_read(fd, vectors, count, sum).
func fdRead(in *instance, m api.Memory, a []uint64) int32 {
	h := in.files.handles[int32(uint32(a[0]))]
	if h == nil {
		return wasm.ErrnoBadFD
	}
	sum := 0
	for _, p := range wasm.Vectors(m, a[1], a[2]) {
		n, err := h.read(p)
		if err != nil {
			return wasm.ErrnoIO
		}
		sum += n
		if n < len(p) {
			break
		}
	}
	wasm.Put32(m, a[3], uint32(sum))
	return 0
}

// fdWrite implements fd_write(fd, vectors, count, sum). It discards PDFium's messages.
func fdWrite(in *instance, m api.Memory, a []uint64) int32 {
	if in.files.handles[int32(uint32(a[0]))] != nil {
		return wasm.ErrnoBadFD
	}
	sum := 0
	for _, p := range wasm.Vectors(m, a[1], a[2]) {
		sum += len(p)
	}
	wasm.Put32(m, a[3], uint32(sum))
	return 0
}

// fdSeek implements fd_seek(fd, offset low, offset high, whence, position). This build of PDFium
// passes the 64-bit offset as two numbers.
func fdSeek(in *instance, m api.Memory, a []uint64) int32 {
	h := in.files.handles[int32(uint32(a[0]))]
	if h == nil {
		return wasm.ErrnoBadFD
	}
	offset := int64(uint64(uint32(a[1])) | uint64(uint32(a[2]))<<32)
	pos, ok := h.seek(offset, uint32(a[3]))
	if !ok {
		return wasm.ErrnoInval
	}
	binary.LittleEndian.PutUint64(wasm.Bytes(m, a[4], 8), uint64(pos))
	return 0
}
