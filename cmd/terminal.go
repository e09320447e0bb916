package cmd

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether f is a terminal. Unlike a check for a character device, it
// is false for /dev/null.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// isTerminalReader reports whether in is a terminal, so that someone can answer a
// prompt.
func isTerminalReader(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && isTerminal(f)
}
