package sandbox

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// ownExecutable returns the running binary. Its path could refer to another build after an in-place
// upgrade.
func ownExecutable() (string, error) { return "/proc/self/exe", nil }

// procAttributes makes Linux kill the worker when the thread that started it ends.
func procAttributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// nameProcess sets the name of this process in top and "ps -e", which show up to 15 bytes. Without it,
// the name is that of the link that ownExecutable returns.
func nameProcess(name string) {
	// The name has no effect on the worker.
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0)
}

// lowerPriority sets this process to the lowest priority. On Linux, each thread has its own, and new
// threads inherit it.
func lowerPriority() error {
	const lowest, twice = 19, 2 // a thread may start while they are listed
	for range twice {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err == nil {
				err = syscall.Setpriority(syscall.PRIO_PROCESS, id, lowest)
			}
			if err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		}
	}
	return nil
}

// attachJob does nothing on Linux, where procAttributes, limitSelf, and residentMemory are used
// instead.
func attachJob(*os.Process, int64) (io.Closer, error) { return nil, nil }

// residentMemory returns the resident memory of a process in bytes, or 0 if the process has ended.
func residentMemory(pid int) int64 {
	return statm(strconv.Itoa(pid), residentColumn)
}

// cpuTime returns the CPU time that a process has used, or 0 if it is unknown.
func cpuTime(pid int) time.Duration {
	const ticksPerSecond = 100 // USER_HZ, on all architectures that Go supports
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The second column is the name in parentheses. The 12th and 13th after it are the times in user
	// and in kernel mode (proc(5)).
	_, rest, _ := bytes.Cut(content, []byte(") "))
	columns := bytes.Fields(rest)
	if len(columns) < 13 {
		return 0
	}
	user, err1 := strconv.ParseInt(string(columns[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(columns[12]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

// ownMemory returns the resident memory of this process in bytes, or 0 if it is unknown. It works
// inside the sandbox.
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

// ownStatm is /proc/self/statm. It is opened before the protections are applied.
var ownStatm *os.File

// residentColumn is the index of the column in /proc/PID/statm that contains the number of resident
// pages.
const residentColumn = 1

// statm returns one column of /proc/PID/statm, converted from pages (proc(5)) to bytes. It returns
// 0 if the file can't be read.
func statm(pid string, column int) int64 {
	content, err := os.ReadFile("/proc/" + pid + "/statm")
	if err != nil {
		return 0
	}
	return pages(content, column)
}

// pages returns one column of a statm file's content, converted from pages to bytes.
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

// limitSelf is called in a worker before the first document. It disables core dumps, which could
// contain a client's document. It also limits the data size to twice the given limit, in case
// memory grows faster than the parent can check it. Memory that the runtime has already mapped does
// not count.
func limitSelf(memory int64) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return err
	}
	const dataColumn = 5
	limit := uint64(statm("self", dataColumn) + 2*memory)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
}

// maxOpenFiles is the maximum number of open files in a worker: its pipes, the files that the Go
// runtime needs, and a few that it may have inherited.
const maxOpenFiles = 32

// enclose applies the protections. From then on, the process can't open files, access the network
// or other processes, or start programs. enclose returns the protections that are missing. An old
// kernel or a container may lack some, but the worker runs anyway.
func enclose() (gaps []MissingProtection) {
	var err error
	// /proc can't be opened after the protections are applied. If this fails, ownMemory returns 0.
	if ownStatm, err = os.Open("/proc/self/statm"); err != nil {
		ownStatm = nil
	}
	// Apply this to all threads because the runtime has already started several.
	privileges := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	return slices.Concat(
		missing(ProtectionNoNewPrivs, privileges),
		missing(ProtectionLandlock, applyLandlock()),
		missing(ProtectionRlimits, applyRlimits()),
		missing(ProtectionSeccomp, applySeccomp()),
	)
}

// applyLandlock denies everything that Landlock can deny. It also works without the seccomp filter,
// which can't check paths and might miss a system call of a newer kernel.
func applyLandlock() error {
	if _, err := ll.LandlockGetABIVersion(); err != nil {
		return err
	}
	// This applies to all threads and denies all access rights that this kernel supports. The
	// library omits the signal scope on kernels where it would block signals between threads of the
	// same process.
	return landlock.V11.BestEffort().Restrict()
}

// startProcess starts the process. On Linux, the worker applies the protections to itself. It doesn't
// inherit files that this process has inherited; Linux before 5.11 can't prevent that.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	cmd := command()
	err := cmd.Start()
	return cmd, nil, err
}

// applyRlimits prevents writing to files and limits the number of open files. It does not set
// RLIMIT_NPROC because that limit counts the threads of all processes of the user, and a Go program
// crashes if it can't start a thread.
func applyRlimits() error {
	return errors.Join(
		unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{}),
		unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: maxOpenFiles, Max: maxOpenFiles}),
	)
}
