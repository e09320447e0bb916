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

// account is the operating system user that owns a vault.
type account struct {
	uid  int
	gids []int // the primary group comes first
	name string
}

// When no server runs, a command opens the vault itself and creates files that the
// server must read later. If root runs such a command, the process first switches to the
// user that owns the vault. A command typed after "systemctl stop" then works as typed,
// and root never follows a link that another user left in the data directory. If the
// switch isn't possible, the command fails and prints the command line to type instead.
// A command that talks to a running server stays root, because it only writes files
// named on its command line.
//
// Windows needs no switch: files in the data directory inherit its access list, so the
// service can read what an administrator creates there.

// becomeOwner switches this process to the user that owns the vault if it runs as root
// and the vault belongs to another user.
func (s *shell) becomeOwner(c config.Config) error {
	uid, gid, known := dataOwner(c.Data)
	if !mustSwitchUser(os.Geteuid(), uid, known) {
		return nil
	}
	s.operator = operatorName() // must run before the switch
	owner := lookupAccount(uid, gid)
	if err := switchUser(owner); err != nil {
		return fmt.Errorf("the vault in %s belongs to the user %s, and root can't become that user here (%w). Type: sudo -u %s deedkeep … --data %s", c.Data, owner.name, err, owner.name, c.Data)
	}
	s.runAs = owner.name
	s.messagef("running as %s, the owner of %s", owner.name, c.Data)
	return nil
}

// mustSwitchUser reports whether the process must switch to the owner of the vault. That
// is only the case for root and a vault of another user. A data directory that doesn't
// exist has no known owner.
func mustSwitchUser(euid, owner int, known bool) bool { return euid == 0 && known && owner != 0 }

// explainPermissionError adds a hint to a permission error that root would not have
// received before the switch to the owner.
func (s *shell) explainPermissionError(err error) {
	if s.runAs != "" && (errors.Is(err, fs.ErrPermission) || strings.Contains(message(err), "permission denied")) {
		s.messagef("this command runs as %s, who owns the vault, not as root: give %s access to the file or folder, or choose another one", s.runAs, s.runAs)
	}
}

// operatorName returns the name of the operator for the audit log: the current user and,
// under sudo, the user who ran it, as in "root (sudo: jane)". Anyone can set SUDO_USER,
// so the name is a label and grants nothing. A SUDO_USER that isn't a valid username is
// left out.
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

// usernamePattern matches usernames of Linux, macOS, and Windows domains.
var usernamePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@+\\-]{0,63}$`)
