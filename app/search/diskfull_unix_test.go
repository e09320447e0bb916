//go:build unix

package search_test

import "syscall"

var errNoRoom error = syscall.EDQUOT
