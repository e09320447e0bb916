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

// maxOpenFiles is how many files a child may have open: its pipes, what the runtime
// needs, and a few that it may have inherited.
const maxOpenFiles = 32

// enclose closes the sandbox: from here on the process opens no file, reaches no network
// and no other process, and starts no program. It returns what the system lacks for
// that. A container or an older kernel may lack any of it, and documents are read all the same.
func enclose() (gaps []MissingProtection) {
	var err error
	// /proc can't be opened later. Without it, ownMemory says 0.
	if ownStatm, err = os.Open("/proc/self/statm"); err != nil {
		ownStatm = nil
	}
	// On all threads: those of the runtime have been started.
	privileges := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	return slices.Concat(
		missing(ProtectionNoNewPrivs, privileges),
		missing(ProtectionLandlock, applyLandlock()),
		missing(ProtectionRlimits, applyRlimits()),
		missing(ProtectionSeccomp, applySeccomp()),
	)
}

// applyLandlock allows nothing of what Landlock can deny. This does not rely on the filter of
// system calls, which sees no paths and could miss a call that a later kernel has.
func applyLandlock() error {
	if _, err := ll.LandlockGetABIVersion(); err != nil {
		return err
	}
	// On all threads, and with the rights that this kernel knows. The scope of signals is
	// left out where the kernel would deny a process its own threads.
	return landlock.V11.BestEffort().Restrict()
}

// startProcess has nothing to take from a child before it has started.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	cmd := command()
	err := cmd.Start()
	return cmd, nil, err
}

// applyRlimits has no file written to, and few open. RLIMIT_NPROC is not for this: it counts
// the threads of all processes of the user, and ends a Go program that can't have one more.
func applyRlimits() error {
	return errors.Join(
		unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{}),
		unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: maxOpenFiles, Max: maxOpenFiles}),
	)
}
