package txn

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate reserves blocks without writing them. Some file systems don't support this.
func allocate(f *os.File, at, n int64) error { return unix.Fallocate(int(f.Fd()), 0, at, n) }
