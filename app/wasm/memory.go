package wasm

import (
	"github.com/tetratelabs/wazero/experimental"
)

// reserve allocates the memory of an instance. It reserves address space for the maximum size,
// makes it accessible as the memory grows, and returns it to the system when the instance is
// dropped. A Go slice would be copied each time it grows and would be freed only by the garbage
// collector.
var reserve = experimental.MemoryAllocatorFunc(func(_, maxSize uint64) experimental.LinearMemory {
	return &memory{maxSize: maxSize}
})

// memory is a range of address space. It is mapped on first use.
type memory struct {
	maxSize uint64
	mapped  []byte // maxSize bytes long
	size    uint64
}

// Reallocate makes the first size bytes accessible and returns them. It returns nil if the system
// doesn't allow that.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.maxSize {
		return nil
	}
	if m.mapped == nil && !m.reserve() {
		return nil
	}
	if size > m.size {
		if !m.commit(size) {
			return nil
		}
		m.size = size
	}
	return m.mapped[:size:size]
}

// Free returns the address space to the system. The memory must not be used after that.
func (m *memory) Free() {
	if m.mapped != nil {
		m.release()
		m.mapped = nil
	}
}
