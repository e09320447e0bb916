package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"regexp"
	"strings"

	"deedkeep/app/config"
)

// account is the operating system account that owns a vault.
type account struct {
	uid  int
	gids []int // primary group first
	name string
}

// If no server is running, a command opens the vault itself and creates files that the
// server must read later. If root runs such a command, the process first switches to the
// user that owns the vault. This way, a command entered after "systemctl stop" works as
// typed, and root never follows a symbolic link that another user created in the data
// directory. If the switch isn't possible, the command fails and prints the command line to
// use instead. A command that talks to a running server remains root, because it only
// writes files named on its command line.
//
// Windows doesn't need this switch: files in the data directory inherit its access list, so
// the service can read the files that an administrator creates there.

// becomeOwner switches this process to the user that owns the vault if it runs as root and
// another user owns the vault.
func (s *shell) becomeOwner(c config.Config) error {
	uid, gid, known := dataOwner(c.Data)
	if !mustSwitchUser(os.Geteuid(), uid, known) {
		return nil
	}
	s.operator = operatorName() // must run before the switch
	owner := lookupAccount(uid, gid)
	if err := switchUser(owner); err != nil {
		return fmt.Errorf("the vault in %s belongs to the user %s, and root can't switch to that user (%w); run: sudo -u %s deedkeep … --data %s",
			c.Data, owner.name, err, owner.name, c.Data)
	}
	s.runAs = owner.name
	s.messagef("running as %s, the owner of %s", owner.name, c.Data)
	return nil
}

// mustSwitchUser reports whether the process must switch to the owner of the vault. This is
// the case if it runs as root and another user owns the vault. known is false if the data
// directory doesn't exist.
func mustSwitchUser(euid, owner int, known bool) bool { return euid == 0 && known && owner != 0 }

// explainPermissionError prints a hint if err is a permission error and the process has
// switched from root to the owner of the vault. Root wouldn't have gotten the error.
func (s *shell) explainPermissionError(err error) {
	if s.runAs != "" && (errors.Is(err, fs.ErrPermission) || strings.Contains(message(err), "permission denied")) {
		s.messagef("this command runs as %s, the owner of the vault, not as root; give %s access to the file or folder, or choose another one", s.runAs, s.runAs)
	}
}

// operatorName returns the operator's name for the audit log: the current user and, under
// sudo, the user who ran sudo, as in "root (sudo: jane)". Anyone can set SUDO_USER, so the
// name is only a label and doesn't grant any permissions. A SUDO_USER that isn't a valid
// username is omitted.
func operatorName() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if sudoUser := os.Getenv("SUDO_USER"); usernamePattern.MatchString(sudoUser) && sudoUser != name {
		name = strings.TrimSpace(name + " (sudo: " + sudoUser + ")")
	}
	return name
}

// usernamePattern matches usernames on Linux and macOS and in Windows domains.
var usernamePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@+\\-]{0,63}$`)
