//go:build !windows

package integrity

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// DataOwner returns the user and group that own the data directory. The server and all
// commands run as this user. known is false if the directory doesn't exist.
func DataOwner(dir string) (uid, gid int, known bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, 0, false
	}
	return ownerOf(info)
}

func ownerOf(info fs.FileInfo) (uid, gid int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// CheckOwner returns an *OwnerError if vault.db and the data directory belong to
// different users. If vault.db is a symbolic link that belongs neither to root nor to the
// owner of the directory, the owner of the link counts, because that user could have linked
// it to any file.
func CheckOwner(dir string) error {
	owner, _, known := DataOwner(dir)
	database := filepath.Join(dir, "vault.db")
	link, err := os.Lstat(database)
	if !known || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	found, _, _ := ownerOf(link)
	if link.Mode()&fs.ModeSymlink != 0 && (found == 0 || found == owner) {
		target, err := os.Stat(database)
		if err != nil {
			return nil //nolint:nilerr // opening the vault reports a link without a target
		}
		found, _, _ = ownerOf(target)
	}
	if found == owner {
		return nil
	}
	mismatch := &OwnerError{Dir: dir, Database: UserName(found), Directory: UserName(owner), Owner: UserName(owner)}
	if owner == 0 {
		mismatch.Owner = UserName(found)
	}
	return mismatch
}

// UserName returns the name of a user, or the ID if this machine has no user with it.
func UserName(uid int) string {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return strconv.Itoa(uid)
	}
	return u.Username
}

// CreatePrivateDir creates the data directory if needed and sets its mode to 0700.
func CreatePrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) // #nosec G302 -- a directory needs its x bit
}

// IsReadOnly reports whether CreatePrivateDir failed with err because this process can only
// read the directory: its file system is read-only, or it belongs to another user. EROFS
// decides before the permissions do, because an ext4 file system that stopped writing after
// an error still grants write access.
func IsReadOnly(dir string, err error) bool {
	const write = 2
	return errors.Is(err, syscall.EROFS) || err != nil && syscall.Access(dir, write) != nil
}
