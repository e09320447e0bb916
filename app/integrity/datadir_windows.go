package integrity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// CreatePrivateDir creates the data directory with its own access list: the current
// account, SYSTEM, and Administrators. It inherits nothing from the parent. An existing
// directory keeps its access list.
func CreatePrivateDir(dir string) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("who owns %s: %w", dir, err)
	}
	// Full access (FA) for the account, SYSTEM (SY), and Administrators (BA), inherited by
	// new files and directories (OICI), and protected from the parent's list (P).
	sddl := fmt.Sprintf("D:P(A;OICI;FA;;;%s)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", user.User.Sid)
	descriptor, err := windows.SecurityDescriptorFromString(sddl)
	if err != nil {
		return fmt.Errorf("access list of %s: %w", dir, err)
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return fmt.Errorf("access list of %s: %w", dir, err)
	}
	return windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
}

// Writable returns true, because Windows reports missing permission only when a file is
// written.
func Writable(string) bool { return true }
