// Package control is the control socket: the way in which a command on this machine administers the vault. It has the
// listener and the handlers that a server runs, and the client that commands use. Without a running server a command
// opens the vault and serves the same handlers in memory.
//
// The socket is a Unix socket in the data directory; on Windows it is a loopback TCP port whose number and token are
// in a file there. Only users who can read the data directory can connect, the socket of a running server is never
// replaced, and no file is deleted that this package did not create. Guard rejects requests that a browser could be
// tricked into sending.
package control

import (
	"context"
	"errors"
	"io"
	"net"
)

var (
	// ErrNoServer is wrapped by Dial when no server listens at the data directory.
	ErrNoServer = errors.New("no server is running on this data directory")
	// ErrInUse is wrapped by Listen when a server already listens at the data directory.
	ErrInUse = errors.New("a server is already running on this data directory")
)

// Listener is an open listener and the token that its clients must send ("" if file permissions keep others out).
// Close stops it and removes what it created in the data directory.
type Listener struct {
	net.Listener
	Token string
}

// transport is one kind of control socket. All are compiled and tested on every platform; defaultTransport picks one.
type transport interface {
	listen(dataDir string, rand io.Reader) (*Listener, error)
	dial(ctx context.Context, dataDir string) (net.Conn, error)
	// token returns the token of the server that is running now.
	token(dataDir string) (string, error)
}

// Listen starts listening for commands at dataDir, which must exist with mode 0700 and whose vault the caller has
// locked. rand feeds the token. The error wraps ErrInUse if a server is running there, and names the setting data if
// its path is too long. Serve Guard(handler, Listener.Token) on it.
func Listen(dataDir string, rand io.Reader) (*Listener, error) {
	return defaultTransport().listen(dataDir, rand)
}

// Dial connects to the server running on dataDir. The error wraps ErrNoServer if there is none.
func Dial(ctx context.Context, dataDir string) (net.Conn, error) {
	return defaultTransport().dial(ctx, dataDir)
}
