// Package control is the door through which a command on this machine reaches the vault: a listener in the data
// directory, or in memory when no server runs, each with the dial and the http.RoundTripper that belong to it.
//
// It promises that only who may read the data directory gets in, that a running server's door is never taken over,
// that nothing is deleted that it did not make, and that callers see no difference between platforms: a unix socket
// where there are any, on Windows a loopback port whose number and token stand in the data directory.
//
// It refuses requests that a browser could send in somebody's name (Guard). It decides nothing about what is asked.
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
	// ErrInUse is wrapped by Open when a server answers at the data directory already.
	ErrInUse = errors.New("a server is already running on this data directory")
)

// Listener is an open listener and the token that its callers must show ("" where the file system keeps others out).
// Close stops it and removes what it put into the data directory.
type Listener struct {
	net.Listener
	Token string
}

// transport is one way to make a door; both are compiled and tested on every platform, native picks one.
type transport interface {
	listen(dataDir string, chance io.Reader) (*Listener, error)
	dial(ctx context.Context, dataDir string) (net.Conn, error)
	// token is what the server that is running now wants to see.
	token(dataDir string) (string, error)
}

// Listen starts listening for commands at dataDir, which must exist with mode 0700 and whose vault the caller has locked;
// chance feeds the token. It wraps ErrInUse when a server answers there, and names the setting `data` when its path is
// too long. Serve Guard(handler, door.Token) on it.
func Listen(dataDir string, chance io.Reader) (*Listener, error) {
	return defaultTransport().listen(dataDir, chance)
}

// Dial connects to the server running on dataDir; it wraps ErrNoServer when there is none.
func Dial(ctx context.Context, dataDir string) (net.Conn, error) {
	return defaultTransport().dial(ctx, dataDir)
}
