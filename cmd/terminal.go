package cmd

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether f is a terminal. It returns false for /dev/null, which is also
// a character device.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// isTerminalReader reports whether in is a terminal, where a user can respond to prompts.
func isTerminalReader(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && isTerminal(f)
}
