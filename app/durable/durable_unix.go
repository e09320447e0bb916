//go:build !windows

package durable

import (
	"errors"
	"os"
	"syscall"
)

// Rename moves a closed file to the path to and replaces any file there. The new name is
// durable only after SyncDir.
func Rename(from, to string) error { return os.Rename(from, to) }

// giveToOwner makes the owner of dir the owner of a file that root created there.
func giveToOwner(f *os.File, dir string) error {
	owner, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	of, current := owner.Sys().(*syscall.Stat_t), now.Sys().(*syscall.Stat_t)
	if of.Uid == current.Uid {
		return nil // always, on a share that gives all files to one user
	}
	return f.Chown(int(of.Uid), int(of.Gid))
}

// SyncDir makes the entries of a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SyncDirIfSupported is like SyncDir but does nothing if the file system can't sync
// directories, as is the case for some network shares.
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
