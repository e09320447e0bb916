package txn

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate reserves blocks without writing them. Some file systems do not support it.
func allocate(f *os.File, at, n int64) error { return unix.Fallocate(int(f.Fd()), 0, at, n) }
