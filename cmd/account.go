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

// account is the user who owns a vault.
type account struct {
	uid  int
	gids []int // the user's own group first
	name string
}

// A command that opens the vault itself creates files that the server must read. So when
// root runs one, the process becomes the user who owns the vault, before it creates
// anything: what an administrator types after "systemctl stop" works as typed, and root
// never follows what another user left in a folder of theirs. Where that isn't possible,
// the command is rejected with the line to type instead. A command that asks a running
// server stays root: it only writes files that were named on its command line.
//
// Windows has no such switch: the access list of the data directory is inherited, so
// files that an administrator creates there are open to the service.

// becomeOwner makes this process one of the user who owns the vault, if root runs it.
func (s *shell) becomeOwner(c config.Config) error {
	uid, gid, known := dataOwner(c.Data)
	if !mustSwitchUser(os.Geteuid(), uid, known) {
		return nil
	}
	s.operator = operatorName() // before it is another's
	to := lookupAccount(uid, gid)
	if err := switchUser(to); err != nil {
		return fmt.Errorf("the vault in %s belongs to the user %s, and root can't become that user here (%w). Type: sudo -u %s deedkeep … --data %s", c.Data, to.name, err, to.name, c.Data)
	}
	s.runAs = to.name
	s.messagef("running as %s, the owner of %s", to.name, c.Data)
	return nil
}

// mustSwitchUser decides: only root can become another, and needs to only for a vault of
// another. Of a directory that isn't there, root is the owner.
func mustSwitchUser(euid, owner int, known bool) bool { return euid == 0 && known && owner != 0 }

// explainPermissionError explains an error of access that root would not have had.
func (s *shell) explainPermissionError(err error) {
	if s.runAs != "" && (errors.Is(err, fs.ErrPermission) || strings.Contains(message(err), "permission denied")) {
		s.messagef("this command runs as %s, who owns the vault, not as root: give %s access to the file or folder, or choose another one", s.runAs, s.runAs)
	}
}

// operatorName is who types, for the audit log: the user of this process and, under
// sudo, who called it, as in "root (sudo: jane)". Anyone may set that variable, so it
// is a label and gives no access; what is no username is left out.
func operatorName() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); usernamePattern.MatchString(by) && by != name {
		name = strings.TrimSpace(name + " (sudo: " + by + ")")
	}
	return name
}

// usernamePattern is one of Linux, macOS, or a domain.
var usernamePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@+\\-]{0,63}$`)
