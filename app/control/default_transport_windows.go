package control

// defaultTransport is loopback: unix sockets of Windows have no mode, and Go's os package cannot tell one from a file.
func defaultTransport() transport { return loopback{} }
