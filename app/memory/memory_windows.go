package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var getProcessMemoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// counters is the structure PROCESS_MEMORY_COUNTERS_EX.
type counters struct {
	size, pageFaults           uint32
	peakWorkingSet, workingSet uintptr
	peakPagedPool, pagedPool   uintptr
	peakNonPaged, nonPaged     uintptr
	pagefile, peakPagefile     uintptr
	privateUsage               uintptr
}

// Of returns the memory of a process.
func Of(pid int) Usage {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.PROCESS_VM_READ, false, uint32(pid)) // process IDs have 32 bits
	if err != nil {
		return Usage{}
	}
	c := counters{size: uint32(unsafe.Sizeof(counters{}))}
	done, _, _ := getProcessMemoryInfo.Call(uintptr(process), uintptr(unsafe.Pointer(&c)), uintptr(c.size))
	// The handle was needed only for the counters.
	_ = windows.CloseHandle(process)
	if done == 0 {
		return Usage{}
	}
	return Usage{Total: int64(c.workingSet), Anonymous: min(int64(c.privateUsage), int64(c.workingSet))} // sizes of memory
}
