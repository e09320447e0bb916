//go:build !windows

package importer

import "syscall"

// nonBlock opens without waiting for whoever is at the other end.
const nonBlock = syscall.O_NONBLOCK
