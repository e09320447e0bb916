//go:build !windows

package importer

import "syscall"

// With nonBlock, opening a pipe returns immediately instead of waiting for a writer.
const nonBlock = syscall.O_NONBLOCK
