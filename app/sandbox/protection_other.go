//go:build !linux && !windows

package sandbox

import "os/exec"

// startProcess starts the process. There are no protections on this system.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	cmd := command()
	err := cmd.Start()
	return cmd, nil, err
}

// enclose reports that there are no protections on this system.
func enclose() []MissingProtection {
	return []MissingProtection{{ProtectionAll, "not used on this system"}}
}
