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

// A socket address can have at most 104 bytes on macOS and 108 bytes on Linux, including the terminating zero.
const (
	socketName    = "control.sock"
	socketPathMax = 100
)

// unixSocket is the transport for Unix: DATA/control.sock with mode 0600.
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
		return nil, fmt.Errorf("connect to control socket: %w", err)
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
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	return &Listener{Listener: listener}, nil
}

// checkFree returns an error if a server is listening at path or if path is not a socket.
func (s unixSocket) checkFree(dataDir, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open control socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("open control socket: %s exists and is not a socket; move the file to another directory", path)
	}
	conn, err := s.dial(context.Background(), dataDir) // a local connection never blocks
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%w (%s responds)", ErrInUse, path), conn.Close())
	case errors.Is(err, syscall.EAGAIN): // the backlog is full, so a server is listening
		return fmt.Errorf("%w (%s is busy)", ErrInUse, path)
	case errors.Is(err, ErrNoServer):
		return nil
	}
	return err
}

func socketPath(dataDir string) (string, error) {
	path := filepath.Join(dataDir, socketName)
	if len(path) > socketPathMax {
		return "", fmt.Errorf(
			"the path of the control socket (%s) has %d bytes, but at most %d are allowed; use a data directory with a shorter path",
			path, len(path), socketPathMax)
	}
	return path, nil
}

// listenPrivately creates the socket in a new directory with mode 0700, sets the mode of the socket, and then moves
// it to path. For this reason, the umask never affects who can connect.
func listenPrivately(dataDir, path string) (net.Listener, error) {
	tempDir, err := os.MkdirTemp(dataDir, ".d")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tempDir) }() // contains at most a socket that was not moved
	tempPath := filepath.Join(tempDir, "s")
	listener, err := net.Listen("unix", tempPath)
	if err != nil {
		return nil, err
	}
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // otherwise, Close would remove tempPath
	}
	moved, err := moveIntoPlace(listener, tempPath, path)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return moved, nil
}

func moveIntoPlace(listener net.Listener, tempPath, path string) (net.Listener, error) {
	if err := os.Chmod(tempPath, 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(tempPath, path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return &socketListener{Listener: listener, path: path, info: info}, nil
}

// socketListener removes its socket when it is closed, unless another server has replaced the socket.
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
