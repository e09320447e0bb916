package memory

import "runtime/debug"

// Trim returns memory to the system: what the Go runtime doesn't use, and the pages of a file that
// this process has mapped. The file is read again where it is needed.
func Trim(file string) {
	debug.FreeOSMemory()
	releaseMapped(file)
}
