package sandbox

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

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
