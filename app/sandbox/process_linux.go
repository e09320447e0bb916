package sandbox

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
)

// ownExecutable returns the program that runs now; after an upgrade in place its path
// would start another build.
func ownExecutable() (string, error) { return "/proc/self/exe", nil }

// procAttributes make the child die with the thread that starts it.
func procAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// attachJob has nothing to add: see attributes, confine and resident.
func attachJob(*os.Process, int64) (io.Closer, error) { return nil, nil }

// residentMemory returns the bytes of memory a process holds, 0 when it is gone.
func residentMemory(pid int) int64 {
	return statm(strconv.Itoa(pid), residentColumn)
}

// ownMemory returns the bytes of memory that this process holds, 0 when it cannot tell.
// It works in a closed sandbox.
func ownMemory() int64 {
	if ownStatm == nil {
		return residentMemory(os.Getpid())
	}
	var content [256]byte
	n, err := ownStatm.ReadAt(content[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	return pages(content[:n], residentColumn)
}

// ownStatm is /proc/self/statm, opened before the sandbox was closed.
var ownStatm *os.File

// residentColumn is where /proc/PID/statm says how many pages are resident.
const residentColumn = 1

// statm returns one number of /proc/PID/statm, which counts pages (proc(5)), in
// bytes; 0 when it cannot be had.
func statm(pid string, column int) int64 {
	content, err := os.ReadFile("/proc/" + pid + "/statm")
	if err != nil {
		return 0
	}
	return pages(content, column)
}

// pages returns one number of the content of a statm file, in bytes.
func pages(content []byte, column int) int64 {
	numbers := bytes.Fields(content)
	if len(numbers) <= column {
		return 0
	}
	n, err := strconv.ParseInt(string(numbers[column]), 10, 64)
	if err != nil {
		return 0
	}
	return n * int64(os.Getpagesize())
}

// limitSelf is what a child does to itself before the first document: no core
// dump may hold a client's document, and memory that grows faster than the
// parent looks ends at twice the limit. What the runtime has mapped until now
// does not count.
func limitSelf(memory int64) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return err
	}
	const dataColumn = 5
	most := uint64(statm("self", dataColumn) + 2*memory)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
}
