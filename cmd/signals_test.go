package cmd

import (
	"os"
	"syscall"
)

// signals maps names to the signals that scripts can send.
var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "KILL": os.Kill}
