package integrity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// DataOwner reports that the owner is unknown: on Windows, files in the data directory
// inherit its access control list.
func DataOwner(string) (uid, gid int, known bool) { return 0, 0, false }

// CheckOwner does nothing on Windows, for the same reason.
func CheckOwner(string) error { return nil }

// CreatePrivateDir creates the data directory with its own access control list: the current
// account, SYSTEM, and Administrators. It inherits nothing from the parent directory. If
// the directory exists, its access control list is not changed.
func CreatePrivateDir(dir string) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("get owner of %s: %w", dir, err)
	}
	// Full access (FA) for the account, SYSTEM (SY), and Administrators (BA). New files and
	// directories inherit it (OICI). It is protected from the parent directory's list (P).
	sddl := fmt.Sprintf("D:P(A;OICI;FA;;;%s)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", user.User.Sid)
	descriptor, err := windows.SecurityDescriptorFromString(sddl)
	if err != nil {
		return fmt.Errorf("get access control list of %s: %w", dir, err)
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return fmt.Errorf("get access control list of %s: %w", dir, err)
	}
	return windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
}

// IsReadOnly always returns false, because Windows reports a missing permission only when a
// file is written.
func IsReadOnly(string, error) bool { return false }
