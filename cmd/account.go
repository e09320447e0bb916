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
	"deedkeep/app/integrity"
)

// account is the operating system account that owns a vault.
type account struct {
	uid  int
	gids []int // primary group first
	name string
}

// The files of a vault belong to the user that owns the data directory, even if root starts
// the server or a command. This way, a command entered after "systemctl stop" works as
// typed, and root never follows a symbolic link that another user created in the data
// directory. The server, a restore, and doctor switch this process to that user. Other
// commands remain root, so that they can read and write the files named on their command
// line as they can with a running server, and start a process of that user that opens the
// vault (see open_vault.go).
//
// Windows doesn't need this: files in the data directory inherit its access list, so the
// service can read the files that an administrator creates there.

// becomeOwner switches this process to the user that owns the data directory if it runs as
// root and another user owns the directory. It returns an error if vault.db belongs to a
// different user than the directory.
func (s *shell) becomeOwner(c config.Config) error {
	if err := integrity.CheckOwner(c.Data); err != nil {
		return err
	}
	return s.switchToOwner(c)
}

// switchToOwner is like becomeOwner but doesn't check vault.db.
func (s *shell) switchToOwner(c config.Config) error {
	owner, other := otherOwner(c.Data)
	if !other {
		return nil
	}
	s.operator = operatorName() // must run before the switch
	if err := switchUser(owner); err != nil {
		return switchFailed(c.Data, owner, err)
	}
	s.runAs = owner.name
	s.messagef("running as %s, the owner of %s", owner.name, c.Data)
	return nil
}

// otherOwner returns the account that owns the data directory. other is true if this process
// runs as root and that account is another one.
func otherOwner(data string) (owner account, other bool) {
	uid, gid, known := integrity.DataOwner(data)
	if !mustSwitchUser(os.Geteuid(), uid, known) {
		return account{}, false
	}
	return lookupAccount(uid, gid), true
}

// mustSwitchUser reports whether the vault must be opened as its owner instead of as this
// process's user. This is the case if it runs as root and another user owns the data
// directory. known is false if the directory doesn't exist.
func mustSwitchUser(euid, owner int, known bool) bool { return euid == 0 && known && owner != 0 }

func switchFailed(data string, owner account, err error) error {
	return fmt.Errorf("the data directory %s belongs to the user %s, and root can't switch to that user (%w); "+
		"run: sudo -u %s deedkeep … --data %s",
		data, owner.name, err, owner.name, data)
}

// explainPermissionError prints a hint if err is a permission error and the vault is open as
// its owner instead of as root. Root wouldn't have gotten the error.
func (s *shell) explainPermissionError(err error) {
	if s.runAs != "" && (errors.Is(err, fs.ErrPermission) || strings.Contains(message(err), "permission denied")) {
		s.messagef("the data directory is open as %s, its owner, not as root; "+
			"give %s access to the file or folder, or choose another one", s.runAs, s.runAs)
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
