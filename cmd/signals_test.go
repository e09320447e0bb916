package cmd

import (
	"os"
	"syscall"
)

var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "KILL": os.Kill}
