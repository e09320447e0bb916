package sandbox

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
)

// ownExecutable returns the running program. After an in-place upgrade its path would start
// another build.
func ownExecutable() (string, error) { return "/proc/self/exe", nil }

// procAttributes makes the worker die with the thread that starts it.
func procAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// attachJob does nothing on Linux: see procAttributes, limitSelf, and residentMemory.
func attachJob(*os.Process, int64) (io.Closer, error) { return nil, nil }

// residentMemory returns the resident bytes of a process, or 0 if it has ended.
func residentMemory(pid int) int64 {
	return statm(strconv.Itoa(pid), residentColumn)
}

// ownMemory returns the resident bytes of this process, or 0 if unknown. It works inside the
// sandbox.
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

// ownStatm is /proc/self/statm, opened before the protections are applied.
var ownStatm *os.File

// residentColumn is the column of /proc/PID/statm with the number of resident pages.
const residentColumn = 1

// statm returns one column of /proc/PID/statm, which counts pages (proc(5)), in bytes, or 0 if
// it can't be read.
func statm(pid string, column int) int64 {
	content, err := os.ReadFile("/proc/" + pid + "/statm")
	if err != nil {
		return 0
	}
	return pages(content, column)
}

// pages returns one column of the content of a statm file, in bytes.
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

// limitSelf is called in a worker before the first document. It disables core dumps, which
// could contain a client's document, and limits memory that grows faster than the parent checks
// to twice the limit. Memory that the runtime has mapped before does not count.
func limitSelf(memory int64) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return err
	}
	const dataColumn = 5
	limit := uint64(statm("self", dataColumn) + 2*memory)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
}
