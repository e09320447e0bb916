package blobstore

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func diskFree(path string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Frsize), nil
}

type fsType struct {
	name    string
	network bool
}

// fsTypes maps f_type of statfs(2) (see linux/magic.h) to names.
var fsTypes = map[uint32]fsType{
	0x6969:     {"nfs", true},
	0x517b:     {"smb", true},
	0xff534d42: {"cifs", true},
	0xfe534d42: {"smb2", true},
	0x65735546: {"fuse", true},
	0x01021997: {"9p", true},
	0x00c36400: {"ceph", true},
	0x5346414f: {"afs", true},
	0x6b414653: {"afs", true},
	0x73757245: {"coda", true},
	0x564c:     {"ncp", true},
	0x0bd00bd0: {"lustre", true},
	0x01161970: {"gfs2", true},
	0x7461636f: {"ocfs2", true},
	0x786f4256: {"vboxsf", true},
	0xbacbacbc: {"vmhgfs", true},
	0xef53:     {"ext4", false},
	0x58465342: {"xfs", false},
	0x9123683e: {"btrfs", false},
	0x2fc12fc1: {"zfs", false},
	0xf2f52010: {"f2fs", false},
	0xca451a4e: {"bcachefs", false},
	0x01021994: {"tmpfs", false},
	0x794c7630: {"overlay", false},
	0x4d44:     {"vfat", false},
	0x2011bab0: {"exfat", false},
	0x7366746e: {"ntfs3", false},
}

func fileSystem(path string) (string, bool, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", false, err
	}
	magic := uint32(st.Type) // 32 bits, in a field whose width depends on the platform
	if fs, ok := fsTypes[magic]; ok {
		return fs.name, fs.network, nil
	}
	return fmt.Sprintf("0x%x", magic), false, nil
}
