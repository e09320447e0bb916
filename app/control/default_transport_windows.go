package control

// defaultTransport returns loopback: Unix sockets on Windows have no mode, and Go's os package can't tell one from a
// file.
func defaultTransport() transport { return loopback{} }
