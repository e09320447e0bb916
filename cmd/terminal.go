package cmd

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether someone watches the file. /dev/null is a device, but not a
// terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// isTerminalReader reports whether someone can answer what is read from there.
func isTerminalReader(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && isTerminal(f)
}
