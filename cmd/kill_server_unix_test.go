//go:build (harness || browser) && !windows

package cmd_test

import (
	"os/exec"
	"syscall"
)

// setProcessGroup makes cmd start in its own process group.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killProcessGroup kills a process and its child processes. It must be called before Wait.
func killProcessGroup(cmd *exec.Cmd) {
	// Wait hasn't been called, so the process ID can't have been reused.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
