//go:build amd64 || arm64

package sandbox

import (
	"context"
	"os"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"deedkeep/web"
)

// These fake workers run as if on systems that lack protections: an old kernel, and a container
// that denies them.
func init() {
	for word, errno := range map[string]unix.Errno{"on an old kernel": unix.ENOSYS, "in a strict container": unix.EPERM} {
		systemFakes[word] = func(string) int {
			must(ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			program := []bpf.Instruction{bpf.LoadAbsolute{Off: offsetNumber, Size: 4}}
			for _, call := range []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_SECCOMP, unix.SYS_PRCTL} {
				program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, deny(errno))
			}
			must(installFilter(append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})))
			must(serve(context.Background(), os.Stdin, os.Stdout, Assets{PDFium: web.PDFium}))
			return 0
		}
	}
}
