package vaulttest

import (
	"io/fs"
	"os"
	"slices"
)

// CopyRecords copies a data directory as a restore brings it back: without what follows
// from the records, which a server keeps changing while it is idle.
func CopyRecords(to, from string) error { return os.CopyFS(to, recordsFS{os.DirFS(from)}) }

type recordsFS struct{ fs.FS }

// ReadDir leaves out the folders at the top that a restore does not bring.
func (r recordsFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(r.FS, name)
	if name != "." {
		return list, err
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		return slices.Contains([]string{"previews", "search", "tmp"}, e.Name())
	}), err
}
