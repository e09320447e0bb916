package txn

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes the blocks without writing them; not every file system can.
func allocate(f *os.File, at, n int64) error { return unix.Fallocate(int(f.Fd()), 0, at, n) }
