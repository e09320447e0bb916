//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// allowedSyscalls lists the system calls of the Go runtime and of PDFium on wazero, the most
// frequent first. The C library, which is part of binaries built with cgo, needs those in the last
// line for threads and memory.
var allowedSyscalls = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_MADVISE, unix.SYS_EPOLL_PWAIT,
	unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_SCHED_YIELD, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGACTION, unix.SYS_SIGALTSTACK,
	unix.SYS_PREAD64, unix.SYS_CLOSE, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EVENTFD2,
	unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETRANDOM, unix.SYS_RESTART_SYSCALL, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	unix.SYS_RSEQ, unix.SYS_SET_ROBUST_LIST, unix.SYS_BRK, unix.SYS_MREMAP,
}

// threadFlags are the clone(2) flags that the Go runtime and the C library use to start a thread.
// None of them starts a process or creates a namespace.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD |
	unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_CHILD_SETTID | unix.CLONE_DETACHED

// unlimitedMapFlags are the mmap(2) flags for memory that doesn't count toward RLIMIT_DATA. Neither
// the Go runtime nor the C library uses them.
const unlimitedMapFlags = unix.MAP_SHARED | unix.MAP_GROWSDOWN

// Offsets in seccomp_data (seccomp(2)). Both supported architectures are little-endian, so the low
// half of an argument comes first.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
	sizeArgument   = 8
	mmapFlags      = 3 // index of the flags among the arguments of mmap
)

func deny(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// seccompProgram returns the BPF program that filters the system calls of the process pid.
func seccompProgram(pid int) []bpf.Instruction {
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	program := []bpf.Instruction{
		// Other architectures use different system call numbers.
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		deny(unix.EPERM),
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
	}
	for _, number := range allowedSyscalls {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: 1}, allow)
	}
	return append(program,
		// Memory must count toward RLIMIT_DATA.
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_MMAP, SkipTrue: 4},
		bpf.LoadAbsolute{Off: offsetArgument + mmapFlags*sizeArgument, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unlimitedMapFlags, SkipTrue: 1},
		allow,
		deny(unix.EPERM),
		// The runtime signals its own threads. Signals to other processes are denied.
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_TGKILL, SkipTrue: 4},
		bpf.LoadAbsolute{Off: offsetArgument, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(pid), SkipTrue: 1},
		allow,
		deny(unix.EPERM),
		// Threads may be started, but not processes.
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE, SkipTrue: 5},
		bpf.LoadAbsolute{Off: offsetArgument, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.CLONE_THREAD, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: ^uint32(threadFlags), SkipTrue: 1},
		allow,
		deny(unix.EPERM),
		// A filter can't check the flags of clone3. The C library falls back to clone.
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1},
		deny(unix.ENOSYS),
		deny(unix.EPERM),
	)
}

// applySeccomp installs the filter on all threads.
func applySeccomp() error { return installFilter(seccompProgram(os.Getpid())) }

// installFilter installs a BPF program on all threads. no_new_privs must already be set.
func installFilter(instructions []bpf.Instruction) error {
	raw, err := bpf.Assemble(instructions)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// #nosec G103 -- seccomp wants the address
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	switch {
	case errno != 0:
		return errno
	case thread != 0:
		return fmt.Errorf("thread %d has a different seccomp filter", thread)
	}
	return nil
}
