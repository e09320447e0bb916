//go:build !linux && !windows

package sandbox

import "os/exec"

// startProcess starts the process. No protections are implemented for this system.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	cmd := command()
	err := cmd.Start()
	return cmd, nil, err
}

// enclose reports that no protections are implemented for this system.
func enclose() []MissingProtection {
	return []MissingProtection{{ProtectionAll, "not supported on this system"}}
}
