package vaulttest

import (
	"io/fs"
	"os"
	"slices"
)

// CopyRecords copies a data directory without derived data, as a restore does. Even an idle server changes derived
// data.
func CopyRecords(to, from string) error { return os.CopyFS(to, recordsFS{os.DirFS(from)}) }

// recordsFS hides the derived data of a data directory.
type recordsFS struct{ fs.FS }

// ReadDir omits the top-level directories that a restore doesn't include.
func (r recordsFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(r.FS, name)
	if name != "." {
		return list, err
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		return slices.Contains([]string{"previews", "search", "tmp"}, e.Name())
	}), err
}
