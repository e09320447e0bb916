package pdf

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func (m *memory) reserve() bool {
	address, err := windows.VirtualAlloc(0, uintptr(m.most), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return false
	}
	// The system's address, not one of Go's: it stays where it is.
	m.mapped = unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), m.most)
	return true
}

func (m *memory) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.mapped))) }

func (m *memory) commit(size uint64) bool {
	_, err := windows.VirtualAlloc(m.address(), uintptr(size), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err == nil
}

func (m *memory) release() {
	// Releasing what was reserved above cannot fail, and nothing is lost if it
	// does but address space.
	_ = windows.VirtualFree(m.address(), 0, windows.MEM_RELEASE)
}
