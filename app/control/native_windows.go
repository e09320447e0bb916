package control

// native is loopback: unix sockets of Windows have no mode, and Go's os package cannot tell one from a file.
func native() flavor { return loopback{} }
