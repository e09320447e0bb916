//go:build harness || browser

package cmd_test

import "os/exec"

// setProcessGroup does nothing: on Windows, the child processes end with the server.
func setProcessGroup(*exec.Cmd) {}

// killProcessGroup kills a process. Its child processes end with it.
func killProcessGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
}
