package blobstore

import (
	"strings"

	"golang.org/x/sys/windows"
)

func diskFree(path string) (uint64, error) {
	root, err := volumeRoot(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(root, &free, nil, nil); err != nil {
		return 0, err
	}
	return free, nil
}

func fileSystem(path string) (string, bool, error) {
	root, err := volumeRoot(path)
	if err != nil {
		return "", false, err
	}
	network := windows.GetDriveType(root) == windows.DRIVE_REMOTE ||
		strings.HasPrefix(windows.UTF16PtrToString(root), `\\`) && !strings.HasPrefix(windows.UTF16PtrToString(root), `\\?\`)
	var name [windows.MAX_PATH + 1]uint16
	if err := windows.GetVolumeInformation(root, nil, 0, nil, nil, nil, &name[0], uint32(len(name))); err != nil {
		return "", network, err
	}
	return windows.UTF16ToString(name[:]), network, nil
}

// volumeRoot returns the mount point of path with a trailing backslash.
func volumeRoot(path string) (*uint16, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	var root [windows.MAX_LONG_PATH]uint16
	if err := windows.GetVolumePathName(p, &root[0], uint32(len(root))); err != nil {
		return nil, err
	}
	return &root[0], nil
}
