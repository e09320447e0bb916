//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// InstalledPaths returns the paths of an installed package.
func InstalledPaths() Installed {
	return Installed{File: "/etc/deedkeep/" + fileName, Data: "/var/lib/deedkeep"}
}

// writersOf returns the problem if every user can change the file at path, or replace it.
func writersOf(path string) string {
	for _, path := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o002 != 0 {
			return fmt.Sprintf("every user of this machine can change %s; run: chmod o-w %s", path, path)
		}
	}
	return ""
}

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
