//go:build !linux && !windows

package sandbox

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func ownExecutable() (string, error) { return os.Executable() }

// procAttributes returns nil. This system has no Pdeathsig, so a worker exits when its input is
// closed, at the latest after its current document.
func procAttributes(bool) *syscall.SysProcAttr { return nil }

// nameProcess does nothing, because this system shows the first argument.
func nameProcess(string) {}

// lowerPriority sets this process to the lowest priority.
func lowerPriority() error {
	const thisProcess, lowest = 0, 19
	return syscall.Setpriority(syscall.PRIO_PROCESS, thisProcess, lowest)
}

func attachJob(*os.Process, int64) (io.Closer, error) { return nil, nil }

// residentMemory returns 0 because this system can't report it without starting another process.
// Package pdf limits the memory of PDFium.
func residentMemory(int) int64 { return 0 }

// cpuTime returns 0 because this system can't report it without starting another process.
func cpuTime(int) time.Duration { return 0 }

// limitSelf disables core dumps, which could contain a client's document.
func limitSelf(int64) error {
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

// ownMemory returns 0 because it is not available on this system.
func ownMemory() int64 { return 0 }

// startProcess starts the process. No protections are implemented for this system.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	cmd := command()
	err := cmd.Start()
	return cmd, nil, err
}

// enclose reports that no protections are implemented for this system.
func enclose() []MissingProtection {
	return []MissingProtection{{ProtectionAll, "not supported on this system"}}
}
