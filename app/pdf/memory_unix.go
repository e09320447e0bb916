//go:build unix

package pdf

import "syscall"

func (m *memory) reserve() bool {
	mapped, err := syscall.Mmap(-1, 0, int(m.most), syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	m.mapped = mapped
	return err == nil
}

func (m *memory) commit(size uint64) bool {
	return syscall.Mprotect(m.mapped[:size], syscall.PROT_READ|syscall.PROT_WRITE) == nil
}

func (m *memory) release() {
	// Unmapping what was mapped above cannot fail, and nothing is lost if it does
	// but address space.
	_ = syscall.Munmap(m.mapped)
}
