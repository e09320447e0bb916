package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero/api"
)

// ErrOutOfBounds reports that an engine passed an address outside its memory. The functions below
// panic with it, and wazero converts the panic to the error of the current call.
var ErrOutOfBounds = errors.New("address out of bounds")

// WASI error codes (WASI preview 1, errno).
const (
	ErrnoBadFD = 8
	errnoInval = 28
	errnoIO    = 29
	ErrnoNoEnt = 44
	ErrnoNoTTY = 59
	ErrnoROFS  = 69
)

// Bytes returns the memory at an address that an engine passed.
func Bytes(m api.Memory, address, length uint64) []byte {
	b, ok := m.Read(uint32(address), uint32(length))
	if !ok {
		panic(ErrOutOfBounds)
	}
	return b
}

// put32 writes a 32-bit number to the memory.
func put32(m api.Memory, address uint64, v uint32) {
	binary.LittleEndian.PutUint32(Bytes(m, address, 4), v)
}

// putStat fills Emscripten's struct stat of a read-only file of size bytes. It has 96 bytes. The
// mode is a 32-bit number at offset 4, and the size is a 64-bit number at offset 24.
func putStat(m api.Memory, address uint64, size int64) {
	const regularReadOnly = 0o100444
	b := Bytes(m, address, 96)
	clear(b)
	binary.LittleEndian.PutUint32(b[4:], regularReadOnly)
	binary.LittleEndian.PutUint64(b[24:], uint64(size))
}

// maxPath is the maximum length of a path. The paths that engines get are much shorter.
const maxPath = 256

// cString returns the zero-terminated string at address, or "" if it has no terminating zero.
func cString(m api.Memory, address uint64) string {
	length := uint64(maxPath)
	if rest := uint64(m.Size()) - min(uint64(m.Size()), uint64(uint32(address))); rest < length {
		length = rest
	}
	b := Bytes(m, address, length)
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return string(b[:end])
	}
	return ""
}

// maxVectors is the value of IOV_MAX in musl.
const maxVectors = 1024

// vectors returns the memory that the vectors at address refer to. count is their number. A vector
// is a 32-bit address and a 32-bit length.
func vectors(m api.Memory, address, count uint64) [][]byte {
	if uint32(count) > uint32(maxVectors) {
		panic(ErrOutOfBounds)
	}
	list := Bytes(m, address, 8*uint64(uint32(count)))
	var found [][]byte
	for ; len(list) > 0; list = list[8:] {
		at, length := binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])
		found = append(found, Bytes(m, uint64(at), uint64(length)))
	}
	return found
}

// PageSize is the unit in which a memory grows.
const PageSize = 64 << 10

// minGrowth is the minimum number of pages by which a memory grows, so that it doesn't grow often.
const minGrowth = 16

// grow grows the memory to at least size bytes. It reports whether that is possible.
func grow(m api.Memory, size uint32) bool {
	have, want := uint64(m.Size()), uint64(size)
	if want <= have {
		return true
	}
	pages := uint32((want - have + PageSize - 1) / PageSize)
	if _, ok := m.Grow(max(pages, minGrowth)); ok {
		return true
	}
	_, ok := m.Grow(pages)
	return ok
}
