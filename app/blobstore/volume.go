package blobstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FreeSpace is the number of bytes this process may still write on the volume
// that holds path, or would hold it: path need not exist yet.
func FreeSpace(path string) (bytes uint64, err error) {
	at, err := existing(path)
	if err == nil {
		bytes, err = diskFree(at)
	}
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", path, err)
	}
	return bytes, nil
}

// FileSystemType tells the kind of file system that holds path, or would hold it, in
// the system's words ("ext4", "nfs", "NTFS"), and whether it is a network or
// user-space one (NFS, SMB, FUSE and the like), where neither sync nor locks can
// be relied on.
func FileSystemType(path string) (kind string, network bool, err error) {
	at, err := existing(path)
	if err == nil {
		kind, network, err = fileSystem(at)
	}
	if err != nil {
		return "", false, fmt.Errorf("file system of %s: %w", path, err)
	}
	return kind, network, nil
}

// existing is path or its nearest ancestor that is there.
func existing(path string) (string, error) {
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
