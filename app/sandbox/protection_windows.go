package sandbox

import (
	"errors"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// startProcess starts the process with a token without privileges. If that fails, it starts the
// process with the user's token and reports the missing protection.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	token, err := restrictedToken()
	if err == nil {
		cmd := command()
		cmd.SysProcAttr.Token = syscall.Token(token)
		err = errors.Join(cmd.Start(), token.Close())
		if cmd.Process != nil {
			return cmd, nil, err
		}
	}
	cmd, gaps := command(), missing(ProtectionRestrictedToken, err)
	err = cmd.Start()
	return cmd, gaps, err
}

var createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")

// restrictedToken returns a copy of this process's token without privileges.
func restrictedToken() (restricted windows.Token, err error) {
	const disableMaxPrivilege = 1
	var own windows.Token
	const access = windows.TOKEN_DUPLICATE | windows.TOKEN_ASSIGN_PRIMARY | windows.TOKEN_QUERY | windows.TOKEN_ADJUST_DEFAULT
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &own); err != nil {
		return 0, err
	}
	if err := createRestrictedToken.Find(); err != nil {
		return 0, errors.Join(err, own.Close())
	}
	done, _, failure := createRestrictedToken.Call(uintptr(own), disableMaxPrivilege, 0, 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&restricted)))
	if done != 0 {
		failure = nil
	}
	return restricted, errors.Join(failure, own.Close())
}

// enclose applies the protections. From then on, the process can't write to the user's objects. The
// worker applies them itself because it must write to the cache first. Windows still lets it access
// the network and read everything that the user can read.
func enclose() []MissingProtection { return missing(ProtectionLowIntegrity, lowerIntegrity()) }

func lowerIntegrity() (err error) {
	low, err := windows.CreateWellKnownSid(windows.WinLowLabelSid)
	if err != nil {
		return err
	}
	var own windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_DEFAULT, &own); err != nil {
		return err
	}
	label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: low, Attributes: windows.SE_GROUP_INTEGRITY}}
	err = windows.SetTokenInformation(own, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size())
	return errors.Join(err, own.Close())
}
