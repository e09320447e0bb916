//go:build !windows

package disk

import (
	"os"
	"syscall"

	"deedkeep/app/durable"
)

func (osFiles) Rename(from, to string) error { return durable.Rename(from, to) }

func (osFiles) Remove(path string) error { return os.Remove(path) }

// IsLinked reports whether a file has several names.
func IsLinked(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	raw, ok := info.Sys().(*syscall.Stat_t)
	return ok && raw.Nlink > 1, nil
}
