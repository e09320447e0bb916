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

// dataOwner is the user and group of vault.db, or of the data directory where there is no
// vault yet. A link counts as its own owner's: a user who could link vault.db to a file of
// root would otherwise have root work in that user's directory. Only a link that root
// created is followed.
func dataOwner(data string) (uid, gid int, known bool) {
	database := filepath.Join(data, "vault.db")
	for _, look := range []func() (os.FileInfo, error){
		func() (os.FileInfo, error) { return untrustedSymlink(database) },
		func() (os.FileInfo, error) { return os.Stat(database) },
		func() (os.FileInfo, error) { return os.Stat(data) },
	} {
		info, err := look()
		if err != nil {
			continue
		}
		if at, ok := info.Sys().(*syscall.Stat_t); ok {
			return int(at.Uid), int(at.Gid), true
		}
	}
	return 0, 0, false
}

// untrustedSymlink is a link of another user than root; fs.ErrNotExist where path is none.
func untrustedSymlink(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&fs.ModeSymlink == 0 || at.Uid == 0 {
		return nil, fs.ErrNotExist
	}
	return info, nil
}

// lookupAccount looks the user up. One that this machine has no name for, as in a container,
// has the group of the vault and no other.
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

// switchUser changes the user of every thread of this process permanently.
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
		return fmt.Errorf("it is still user %d", os.Geteuid())
	}
	return nil
}
