//go:build !windows

package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// dataOwner returns the owner of vault.db or, if there is no vault yet, of the data
// directory. If vault.db is a symbolic link that doesn't belong to root, dataOwner returns
// the owner of the link. Otherwise, a user could link vault.db to a file owned by root and
// make root work in that user's directory.
func dataOwner(data string) (uid, gid int, known bool) {
	database := filepath.Join(data, "vault.db")
	for _, stat := range []func() (os.FileInfo, error){
		func() (os.FileInfo, error) { return untrustedSymlink(database) },
		func() (os.FileInfo, error) { return os.Stat(database) },
		func() (os.FileInfo, error) { return os.Stat(data) },
	} {
		info, err := stat()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			return int(stat.Uid), int(stat.Gid), true
		}
	}
	return 0, 0, false
}

// untrustedSymlink returns the file info of path if it is a symbolic link that doesn't
// belong to root. Otherwise, it returns fs.ErrNotExist.
func untrustedSymlink(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&fs.ModeSymlink == 0 || stat.Uid == 0 {
		return nil, fs.ErrNotExist
	}
	return info, nil
}

// lookupAccount returns the account with the given user ID and all its groups. If this
// machine has no entry for the user, as in a container, the account gets only the given
// group.
func lookupAccount(uid, gid int) account {
	a := account{uid: uid, name: "#" + strconv.Itoa(uid), gids: []int{gid}}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return a
	}
	a.name = u.Username
	if own, err := strconv.Atoi(u.Gid); err == nil {
		a.gids = []int{own}
	}
	ids, err := u.GroupIds()
	if err != nil {
		return a
	}
	for _, text := range ids {
		if id, err := strconv.Atoi(text); err == nil && id != a.gids[0] {
			a.gids = append(a.gids, id)
		}
	}
	return a
}

// switchUser permanently changes the user and groups of all threads of this process.
func switchUser(a account) error {
	for _, step := range []func() error{
		func() error { return syscall.Setgroups(a.gids) },
		func() error { return syscall.Setgid(a.gids[0]) },
		func() error { return syscall.Setuid(a.uid) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if os.Getuid() != a.uid || os.Geteuid() != a.uid || os.Getegid() != a.gids[0] || syscall.Setuid(0) == nil {
		return fmt.Errorf("switching the user failed; the process still runs as user ID %d", os.Geteuid())
	}
	return nil
}
