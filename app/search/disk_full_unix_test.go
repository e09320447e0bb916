//go:build unix

package search_test

import "syscall"

var errDiskFull error = syscall.EDQUOT
