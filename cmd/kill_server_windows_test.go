//go:build harness || browser

package cmd_test

import "os/exec"

// setProcessGroup does nothing, because on Windows the child processes end when the server
// does.
func setProcessGroup(*exec.Cmd) {}

// killProcessGroup kills a process. Its child processes end as well.
func killProcessGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
}
