package doctor

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is the MEMORYSTATUSEX structure from sysinfoapi.h.
type memoryStatus struct {
	length, load                                      uint32
	total, available, totalPage, availablePage        uint64
	totalVirtual, availableVirtual, availableExtended uint64
}

func machineMemory() (int64, error) {
	status := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if done, _, err := call.Call(uintptr(unsafe.Pointer(&status))); done == 0 {
		return 0, err
	}
	return int64(status.total), nil
}
