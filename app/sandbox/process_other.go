//go:build !linux && !windows

package sandbox

import (
	"io"
	"os"
	"syscall"
)

func ownExecutable() (string, error) { return os.Executable() }

// procAttributes have nothing to add: without Pdeathsig a child ends when its input
// closes, at the latest after the document it is at.
func procAttributes() *syscall.SysProcAttr { return nil }

func attachJob(*os.Process, int64) (io.Closer, error) { return nil, nil }

// residentMemory cannot be had here without another process; what PDFium may take is
// limited by package pdf.
func residentMemory(int) int64 { return 0 }

// limitSelf is what a child does to itself: no core dump may hold a client's
// document.
func limitSelf(int64) error {
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

// ownMemory is not looked at either.
func ownMemory() int64 { return 0 }
