package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// InstalledPaths returns the paths of an installed package. The settings file is in the data directory.
func InstalledPaths() Installed {
	dir := filepath.Join(os.Getenv("ProgramData"), "deedkeep")
	return Installed{File: filepath.Join(dir, fileName), Data: dir}
}

// trustedOwners are the security identifiers of accounts whose settings file counts for the whole machine:
// Administrators, SYSTEM, LocalService, and services with their own account.
var trustedOwners = []string{"S-1-5-32-544", "S-1-5-18", "S-1-5-19", "S-1-5-80-"}

// writersOf returns the problem if the file at path belongs to another user who isn't an administrator: every user may
// create files and folders in %ProgramData%, and commands of an administrator would obey them.
func writersOf(path string) string {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return "can't read the owner of the file: " + err.Error()
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return "can't read the owner of the file: " + err.Error()
	}
	if user, err := windows.GetCurrentProcessToken().GetTokenUser(); err == nil && owner.Equals(user.User.Sid) {
		return ""
	}
	for _, trusted := range trustedOwners {
		if strings.HasPrefix(owner.String(), trusted) {
			return ""
		}
	}
	return fmt.Sprintf("the file belongs to a user who isn't an administrator; check its content, then run: takeown /a /f %q", path)
}

// readersOf always returns "". An access control list names groups, and only Windows knows their members.
func readersOf(fs.FileInfo) string { return "" }
