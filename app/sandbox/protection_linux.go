package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// maxOpenFiles is the limit of open files of a worker: its pipes, the needs of the runtime, and
// a few that it may have inherited.
const maxOpenFiles = 32

// enclose applies the protections: from here on the process can't open files, access the
// network or other processes, or start programs. It returns the protections that the system
// lacks. A container or an old kernel may lack any of them; the worker runs anyway.
func enclose() (gaps []MissingProtection) {
	var err error
	// /proc can't be opened later. Without it, ownMemory returns 0.
	if ownStatm, err = os.Open("/proc/self/statm"); err != nil {
		ownStatm = nil
	}
	// On all threads, because the runtime has started several.
	privileges := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	return slices.Concat(
		missing(ProtectionNoNewPrivs, privileges),
		missing(ProtectionLandlock, applyLandlock()),
		missing(ProtectionRlimits, applyRlimits()),
		missing(ProtectionSeccomp, applySeccomp()),
	)
}

// applyLandlock denies everything that Landlock can deny. It does not rely on the seccomp
// filter, which sees no paths and could miss a system call of a later kernel.
func applyLandlock() error {
	if _, err := ll.LandlockGetABIVersion(); err != nil {
		return err
	}
	// This covers all threads, with the rights that this kernel supports. The library omits the
	// signal scope on kernels where it would block signals between threads of one process.
	return landlock.V11.BestEffort().Restrict()
}

// startProcess starts the process. On Linux, protections are applied by the worker itself.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	cmd := command()
	err := cmd.Start()
	return cmd, nil, err
}

// applyRlimits denies writing to files and limits open files. It does not set RLIMIT_NPROC,
// which counts the threads of all processes of the user and would crash a Go program that can't
// start another thread.
func applyRlimits() error {
	return errors.Join(
		unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{}),
		unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: maxOpenFiles, Max: maxOpenFiles}),
	)
}
