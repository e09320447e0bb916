//go:build unix

package config

import (
	"io/fs"
	"syscall"
)

// readersOf says who can read a file besides its owner. A file of root that a group may
// read is how a service gets one that it can't change.
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
