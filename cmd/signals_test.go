package cmd

import (
	"os"
	"syscall"
)

// signals are the signals that scripts can send, by name.
var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "KILL": os.Kill}
