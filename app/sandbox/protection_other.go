//go:build !linux && !windows

package sandbox

import "os/exec"

// startProcess has nothing to take from a child.
func startProcess(command func() *exec.Cmd) (*exec.Cmd, []MissingProtection, error) {
	cmd := command()
	err := cmd.Start()
	return cmd, nil, err
}

// enclose has nothing to close here.
func enclose() []MissingProtection {
	return []MissingProtection{{ProtectionAll, "not used on this system"}}
}
