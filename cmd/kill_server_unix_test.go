//go:build (harness || browser) && !windows

package cmd_test

import (
	"os/exec"
	"syscall"
)

// setProcessGroup starts cmd in a process group of its own.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killProcessGroup kills a process that is not yet waited for, and its child processes.
func killProcessGroup(cmd *exec.Cmd) {
	// Wait has not been called, so the system can't have reused the process ID.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
