//go:build !windows

package cmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

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

// runAs makes cmd run as a.
func runAs(cmd *exec.Cmd, a account) {
	groups := make([]uint32, 0, len(a.gids))
	for _, id := range a.gids {
		groups = append(groups, uint32(id)) // a group ID has 32 bits
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{
		Uid: uint32(a.uid), Gid: groups[0], Groups: groups, // a user ID has 32 bits
	}}
}

// createOutput creates the file that a command line names, or empties an existing one. It follows
// a symbolic link only if the link belongs to root or to this process's user: another user, such
// as the owner of the data directory, could have linked it to any file.
func createOutput(path string) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NOFOLLOW
	link, err := os.Lstat(path)
	isLink := err == nil && link.Mode()&os.ModeSymlink != 0
	if isLink {
		if uid := link.Sys().(*syscall.Stat_t).Uid; uid == 0 || int64(uid) == int64(os.Geteuid()) {
			flags &^= syscall.O_NOFOLLOW
		}
	}
	file, err := os.OpenFile(path, flags, 0o666) // #nosec G302 -- like the redirection of a shell
	if isLink && errors.Is(err, syscall.ELOOP) {
		err = fmt.Errorf("%s is a symbolic link that belongs to another user; choose another file", path)
	}
	return file, err
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
