//go:build !windows

package durable

import (
	"errors"
	"os"
	"syscall"
)

// Rename moves a closed file and replaces the file at to. The new name is durable after
// SyncDir.
func Rename(from, to string) error { return os.Rename(from, to) }

// SyncDir makes the entries of a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SyncDirIfSupported syncs a directory and ignores a file system that can't, as some
// network shares.
func SyncDirIfSupported(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// IsDiskFull reports whether err means that the disk is full or a quota is used up.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
