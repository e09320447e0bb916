package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A socket's address has room for 104 bytes on macOS and 108 on Linux, the closing zero included.
const (
	socketName    = "control.sock"
	socketPathMax = 100
)

// unixSocket is the unix flavor: DATA/control.sock, 0600.
type unixSocket struct{}

func (unixSocket) token(string) (string, error) { return "", nil }

func (unixSocket) dial(ctx context.Context, dataDir string) (net.Conn, error) {
	path, err := socketPath(dataDir)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%w (%s)", ErrNoServer, path)
	}
	if err != nil {
		return nil, fmt.Errorf("dial the control socket: %w", err)
	}
	return conn, nil
}

func (s unixSocket) listen(dataDir string, _ io.Reader) (*Listener, error) {
	path, err := socketPath(dataDir)
	if err != nil {
		return nil, err
	}
	if err := s.checkFree(dataDir, path); err != nil {
		return nil, err
	}
	listener, err := listenPrivately(dataDir, path)
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	return &Listener{Listener: listener}, nil
}

// checkFree asks who is there before anything is replaced: a socket that answers belongs to somebody.
func (s unixSocket) checkFree(dataDir, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the control socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("open the control socket: %s is there and is not a socket; move it away", path)
	}
	conn, err := s.dial(context.Background(), dataDir) // A local connect answers at once.
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%w (%s answers)", ErrInUse, path), conn.Close())
	case errors.Is(err, syscall.EAGAIN): // Its queue is full, so it has one.
		return fmt.Errorf("%w (%s is busy)", ErrInUse, path)
	case errors.Is(err, ErrNoServer):
		return nil
	}
	return err
}

func socketPath(dataDir string) (string, error) {
	path := filepath.Join(dataDir, socketName)
	if len(path) > socketPathMax {
		return "", fmt.Errorf("the control socket's path %s has %d bytes, at most %d are possible: choose a shorter directory for the setting data", path, len(path), socketPathMax)
	}
	return path, nil
}

// listenPrivately makes the socket in a 0700 directory of its own, narrows it there and moves it into place, so that
// there is no moment in which the umask decides who may connect.
func listenPrivately(dataDir, path string) (net.Listener, error) {
	room, err := os.MkdirTemp(dataDir, ".d")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(room) }() // Holds at most a socket that was not moved.
	made := filepath.Join(room, "s")
	listener, err := net.Listen("unix", made)
	if err != nil {
		return nil, err
	}
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // It would remove the name it was made under.
	}
	placed, err := moveIntoPlace(listener, made, path)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return placed, nil
}

func moveIntoPlace(listener net.Listener, made, path string) (net.Listener, error) {
	if err := os.Chmod(made, 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(made, path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return &socketListener{Listener: listener, path: path, info: info}, nil
}

// socketListener removes its socket when closed, unless another has taken its place.
type socketListener struct {
	net.Listener
	path   string
	info   fs.FileInfo
	closed sync.Once
}

func (l *socketListener) Close() error {
	err := net.ErrClosed
	l.closed.Do(func() {
		err = nil
		if info, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(info, l.info) {
			err = os.Remove(l.path)
		}
		err = errors.Join(err, l.Listener.Close())
	})
	return err
}
