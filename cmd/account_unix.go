//go:build !windows

package cmd

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownerOf is the user and group of vault.db, or of the data directory where there is no
// vault yet.
func ownerOf(data string) (uid, gid int, known bool) {
	for _, path := range []string{filepath.Join(data, "vault.db"), data} {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if at, ok := info.Sys().(*syscall.Stat_t); ok {
			return int(at.Uid), int(at.Gid), true
		}
	}
	return 0, 0, false
}

// accountOf looks the user up. One that this machine has no name for, as in a container,
// has the group of the vault and no other.
func accountOf(uid, gid int) account {
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

// become changes the user of every thread of this process permanently.
func become(a account) error {
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
