//go:build (harness || browser) && !windows

package cmd_test

import (
	"os/exec"
	"syscall"
)

func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killProcessGroup(cmd *exec.Cmd) {
	// The group is the harness's own making and has not been waited for: the number
	// is nobody else's.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
