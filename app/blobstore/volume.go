package blobstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FreeSpace returns the number of bytes that this process can still write to the volume
// of path. The path doesn't have to exist.
func FreeSpace(path string) (bytes uint64, err error) {
	dir, err := existingAncestor(path)
	if err == nil {
		bytes, err = diskFree(dir)
	}
	if err != nil {
		return 0, fmt.Errorf("get free disk space of %s: %w", path, err)
	}
	return bytes, nil
}

// FileSystemType returns the system's name for the file system of path ("ext4", "nfs",
// "NTFS"). network reports whether it is a network or user-space file system (NFS, SMB,
// FUSE), where sync and locks are not reliable. The path doesn't have to exist.
func FileSystemType(path string) (name string, network bool, err error) {
	dir, err := existingAncestor(path)
	if err == nil {
		name, network, err = fileSystem(dir)
	}
	if err != nil {
		return "", false, fmt.Errorf("get file system type of %s: %w", path, err)
	}
	return name, network, nil
}

// existingAncestor returns path if it exists, or else its nearest ancestor that does.
func existingAncestor(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(path)
		parent := filepath.Dir(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || parent == path {
			return path, err
		}
		path = parent
	}
}
