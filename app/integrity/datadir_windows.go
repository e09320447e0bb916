package integrity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// private makes the data directory with an access list of its own: the account
// that makes it, the system, and the administrators; nothing is inherited from
// above. A directory that is there already keeps the list its owner gave it.
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
	// Full access (FA) to the account, SYSTEM (SY) and Administrators (BA),
	// inherited by what is made inside (OICI); protected from above (P).
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

// writable is true: Windows shows it only where something is written.
func Writable(string) bool { return true }
