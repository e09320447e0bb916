package pdf

import (
	"github.com/tetratelabs/wazero/experimental"
)

// reserve makes the memory of an instance: address space for its greatest size,
// of which only what is asked for is real, and which goes back to the system at
// once when the instance is given up. Memory on the Go heap would be copied
// each time it grows and would wait for the collector, which waits for PDFium.
var reserve = experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
	return &memory{most: most}
})

// memory is address space, mapped at the first use.
type memory struct {
	most   uint64
	mapped []byte // as long as most
	size   uint64
}

// Reallocate makes the first size bytes usable; nil when the system refuses.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.most {
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

// Free gives the address space back; nothing may look at it afterward.
func (m *memory) Free() {
	if m.mapped != nil {
		m.release()
		m.mapped = nil
	}
}
