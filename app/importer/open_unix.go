//go:build !windows

package importer

import "syscall"

// nonBlock makes opening a pipe return immediately instead of waiting for a writer.
const nonBlock = syscall.O_NONBLOCK
