package wasm

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func (m *memory) reserve() bool {
	address, err := windows.VirtualAlloc(0, uintptr(m.maxSize), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return false
	}
	// The memory at this address belongs to the system, not to Go's heap, so it doesn't move.
	m.mapped = unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), m.maxSize)
	return true
}

func (m *memory) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.mapped))) }

func (m *memory) commit(size uint64) bool {
	_, err := windows.VirtualAlloc(m.address(), uintptr(size), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err == nil
}

func (m *memory) release() {
	// Releasing a reservation can't fail. If it did, it would only leak address space.
	_ = windows.VirtualFree(m.address(), 0, windows.MEM_RELEASE)
}
