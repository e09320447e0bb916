// Package control implements the control socket, which commands on this machine use to administer the vault. It
// contains the listener and the handlers that a server runs, and the client that commands use. If no server is
// running, a command opens the vault and serves the same handlers in memory.
//
// The socket is a Unix socket in the data directory. On Windows, it is a loopback TCP port. A file in the data
// directory contains the port number and a token. Only users who can read the data directory can connect. The package
// never replaces the socket of a running server and never deletes files that it did not create. Guard rejects
// requests that a browser could be tricked into sending.
package control

import (
	"context"
	"errors"
	"io"
	"net"
)

var (
	// ErrNoServer is wrapped by Dial if no server is running on the data directory.
	ErrNoServer = errors.New("no server is running on this data directory")
	// ErrInUse is wrapped by Listen if a server is already running on the data directory.
	ErrInUse = errors.New("a server is already running on this data directory")
)

// Listener is a listener and the token that its clients must send. The token is "" if file permissions protect the
// socket. Close stops the listener and removes the files it created in the data directory.
type Listener struct {
	net.Listener
	Token string
}

// transport is a type of control socket. defaultTransport selects the one that is used on this platform.
type transport interface {
	listen(dataDir string, rand io.Reader) (*Listener, error)
	dial(ctx context.Context, dataDir string) (net.Conn, error)
	// token returns the token of the server that is currently running.
	token(dataDir string) (string, error)
}

// Listen starts listening for commands at dataDir. The directory must exist with mode 0700, and the caller must have
// locked its vault. The token is generated from rand. The error wraps ErrInUse if a server is already running there.
// If the path is too long, the error names the data setting. The caller should serve Guard(handler, Listener.Token)
// on the listener.
func Listen(dataDir string, rand io.Reader) (*Listener, error) {
	return defaultTransport().listen(dataDir, rand)
}

// Dial connects to the server running on dataDir. The error wraps ErrNoServer if no server is running.
func Dial(ctx context.Context, dataDir string) (net.Conn, error) {
	return defaultTransport().dial(ctx, dataDir)
}
