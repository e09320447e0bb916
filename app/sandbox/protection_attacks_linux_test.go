package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Files in the directory in which the attacks run, and the number of the inherited file descriptor.
const (
	AttemptVault   = "vault.db"
	AttemptCache   = "cache"
	AttemptSocket  = "socket"
	AttemptAddress = "address" // host and port of a TCP listener
	attemptFile    = 3
)

// attempts lists actions that a malicious document could attempt after taking control of its
// worker.
var attempts = []struct {
	name string
	try  func(dir, address string) error
}{
	{"read /etc/passwd", func(string, string) error { return read("/etc/passwd") }},
	{"read a vault file", func(dir, _ string) error { return read(filepath.Join(dir, AttemptVault)) }},
	{"list a directory", func(dir, _ string) error {
		_, err := os.ReadDir(dir)
		return err
	}},
	{"read a file in the cache", func(dir, _ string) error { return read(filepath.Join(dir, AttemptCache, "engine")) }},
	{"write a file in the cache", func(dir, _ string) error {
		return os.WriteFile(filepath.Join(dir, AttemptCache, "new"), []byte("x"), 0o600)
	}},
	{"replace a file in the cache", func(dir, _ string) error {
		cache := filepath.Join(dir, AttemptCache)
		return os.Rename(filepath.Join(cache, "old"), filepath.Join(cache, "engine"))
	}},
	{"remove a file from the cache", func(dir, _ string) error { return os.Remove(filepath.Join(dir, AttemptCache, "engine")) }},
	{"create a file in memory", func(string, string) error {
		_, err := unix.MemfdCreate("x", 0)
		return err
	}},
	{"connect to a TCP port", func(_, address string) error { return connect("tcp", address) }},
	{"connect to a Unix socket", func(dir, _ string) error { return connect("unix", filepath.Join(dir, AttemptSocket)) }},
	{"connect to an abstract socket", func(dir, _ string) error { return connect("unix", "@"+filepath.Join(dir, AttemptSocket)) }},
	{"open a UDP socket", func(string, string) error {
		_, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		return err
	}},
	{"start a program", func(string, string) error {
		pid, err := syscall.ForkExec("/proc/self/exe", []string{"x", FakeArg, "dies"}, &syscall.ProcAttr{})
		return reap(pid, err)
	}},
	{"become a program", func(string, string) error {
		name := []byte("/nothing\x00")
		_, _, errno := unix.RawSyscall(unix.SYS_EXECVE, address(&name[0]), 0, 0)
		return failed(errno)
	}},
	{"fork", func(string, string) error {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno == 0 && pid == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return reap(int(pid), failed(errno))
	}},
	{"call clone3", func(string, string) error {
		_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
		return failed(errno)
	}},
	{"signal the parent", func(string, string) error { return unix.Kill(os.Getppid(), 0) }},
	{"signal a thread of the parent", func(string, string) error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) }},
	{"signal its own thread", func(string, string) error { return unix.Tgkill(os.Getpid(), unix.Gettid(), 0) }},
	{"open the parent", func(string, string) error {
		_, err := unix.PidfdOpen(os.Getppid(), 0)
		return err
	}},
	{"trace a process", func(string, string) error { // no process has this ID
		_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1<<30, 0, 0, 0, 0)
		return failed(errno)
	}},
	{"read memory as another process would", func(string, string) error {
		from, to := []byte("x"), make([]byte, 1)
		_, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{{Base: &to[0], Len: 1}},
			[]unix.RemoteIovec{{Base: address(&from[0]), Len: 1}}, 0)
		runtime.KeepAlive(from)
		return err
	}},
	{"take memory that no limit counts", func(string, string) error { return take(unix.MAP_SHARED) }},
	{"take memory as a stack", func(string, string) error { return take(unix.MAP_PRIVATE | unix.MAP_GROWSDOWN) }},
	{"take private memory", func(string, string) error { return take(unix.MAP_PRIVATE) }},
	{"open many files", func(string, string) (err error) {
		var opened []int
		for len(opened) < 2*maxOpenFiles && err == nil {
			var fd int
			if fd, err = unix.Eventfd(0, 0); err == nil {
				opened = append(opened, fd)
			}
		}
		for _, fd := range opened {
			err = cmp.Or(err, unix.Close(fd))
		}
		return err
	}},
	{"raise a limit", func(string, string) error {
		var limit unix.Rlimit
		limit.Cur, limit.Max = 4*maxOpenFiles, 4*maxOpenFiles
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}},
	{"write to a file it has open", func(string, string) error {
		_, err := unix.Write(attemptFile, []byte("x"))
		return err
	}},
	{"start a thread", func(string, string) error {
		before, other := unix.Gettid(), make(chan int)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		go func() { other <- unix.Gettid() }()
		if before == <-other {
			return errors.New("no other thread")
		}
		return nil
	}},
}

func read(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func take(flags int) error {
	memory, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|flags)
	if err != nil {
		return err
	}
	return unix.Munmap(memory)
}

func connect(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	return c.Close()
}

func reap(pid int, err error) error {
	if err != nil {
		return err
	}
	_, err = unix.Wait4(pid, nil, 0, nil)
	return err
}

func address(b *byte) uintptr { return uintptr(unsafe.Pointer(b)) }

func failed(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// Attempts returns the names of the attempts in order.
func Attempts() (names []string) {
	for _, a := range attempts {
		names = append(names, a.name)
	}
	return names
}

// enclosures maps a name to a function that applies protections before the attempts run. The
// function returns the missing protections.
var enclosures = map[string]func() []MissingProtection{
	"nothing":  func() []MissingProtection { return nil },
	"all":      enclose,
	"Landlock": func() []MissingProtection { return missing(ProtectionLandlock, applyLandlock()) },
}

func init() {
	for name, enclosure := range enclosures {
		systemFakes["enclosed by "+name] = func(dir string) int {
			// Print the outcomes at the end because the attempts may affect standard output.
			signal.Ignore(syscall.SIGXFSZ)
			address, err := os.ReadFile(filepath.Join(dir, AttemptAddress))
			must(err)
			lacking := enclosure()
			said := ""
			for _, a := range attempts {
				said += outcome(a.try(dir, string(address))) + "\n"
			}
			for _, g := range lacking {
				said += g.Protection + ": " + g.Reason + "\n"
			}
			_, err = fmt.Print(said)
			must(err)
			return 0
		}
	}
}

// outcome returns the name of the system error that err wraps.
func outcome(err error) string {
	if err == nil {
		return "done"
	}
	if errno, known := errors.AsType[syscall.Errno](err); known {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// LandlockVersion returns the kernel's Landlock version, or 0 if there is none. A kernel with
// version 6 and the faulty signal scope counts as version 5.
func LandlockVersion() int {
	const repaired = 2
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	if errata, err := ll.LandlockGetErrata(); version >= 6 && (err != nil || errata&repaired == 0) {
		return 5
	}
	return version
}

// Idle returns the process IDs of the idle workers.
func (p *Pool) Idle() (pids []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		pids = append(pids, c.cmd.Process.Pid)
	}
	slices.Sort(pids)
	return pids
}
