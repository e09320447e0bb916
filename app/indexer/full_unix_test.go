//go:build unix

package indexer_test

import "syscall"

var noRoom error = syscall.EDQUOT
