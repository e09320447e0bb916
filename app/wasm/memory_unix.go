//go:build unix

package wasm

import "syscall"

func (m *memory) reserve() bool {
	mapped, err := syscall.Mmap(-1, 0, int(m.maxSize), syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	m.mapped = mapped
	return err == nil
}

func (m *memory) commit(size uint64) bool {
	return syscall.Mprotect(m.mapped[:size], syscall.PROT_READ|syscall.PROT_WRITE) == nil
}

func (m *memory) release() {
	// Unmapping a mapping can't fail. If it did, it would only leak address space.
	_ = syscall.Munmap(m.mapped)
}
