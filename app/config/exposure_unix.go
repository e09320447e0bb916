//go:build unix

package config

import (
	"io/fs"
	"syscall"
)

// readersOf says which users other than the owner can read a file. It returns "" if there are none. A file that root
// owns and a group can read is acceptable: this is a common way to give a service read-only access.
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
