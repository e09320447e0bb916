//go:build unix

package config

import (
	"io/fs"
	"syscall"
)

// readersOf returns who besides its owner can read a file. It accepts a file of root that a group can read, because
// that is how a service gets a file that it can't change.
func readersOf(info fs.FileInfo) string {
	const others, group = 0o004, 0o040
	at, known := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case mode&others != 0:
		return otherReaders
	case mode&group != 0 && !(known && at.Uid == 0):
		return groupReaders
	}
	return ""
}
