//go:build unix

package indexer_test

import "syscall"

var errNoRoom error = syscall.EDQUOT
