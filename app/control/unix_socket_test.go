//go:build !windows

package control

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSocketIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := shortDir(t)
	open(t, unixSocket{}, dir)
	info, err := os.Lstat(filepath.Join(dir, "control.sock"))
	if err != nil {
		t.Fatalf("stat socket: %v", err)
	}
	if info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, want a socket, 0600", info.Mode())
	}
	if left := fileNames(t, dir); left != "control.sock" {
		t.Errorf("directory has %s, want control.sock", left)
	}
}

func TestListenReplacesOnlySocket(t *testing.T) {
	for name, create := range map[string]func(path string) error{
		"file":             func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"empty directory":  func(path string) error { return os.Mkdir(path, 0o700) },
		"link to a file":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"link to nothing":  func(path string) error { return os.Symlink("nothing", path) },
		"named pipe":       func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link to a socket": linkToSocket,
	} {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			path := filepath.Join(dir, "control.sock")
			if err := create(path); err != nil {
				t.Fatalf("create %s: %v", name, err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatalf("stat before: %v", err)
			}
			_, err = unixSocket{}.listen(dir, testRand())
			if want := "open control socket: " + path + " exists and is not a socket; move the file to another directory"; err == nil || err.Error() != want {
				t.Errorf("listen = %v, want %s", err, want)
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("got %v, %v, want the file that was there", after, err)
			}
		})
	}
}

func linkToSocket(path string) error {
	listener, err := net.Listen("unix", path+"2")
	if err != nil {
		return err
	}
	return errors.Join(os.Symlink(path+"2", path), listener.Close())
}

func TestSocketPathTooLong(t *testing.T) {
	dir := shortDir(t)
	fits := filepath.Join(dir, strings.Repeat("d", 100-len(dir)-len("//control.sock")))
	tooLong := fits + "d"
	for _, dir := range []string{fits, tooLong} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatalf("create directory: %v", err)
		}
	}
	serve(t, open(t, unixSocket{}, fits), "")
	if _, text, err := post(t, roundTripper(unixSocket{}, fits), "x"); err != nil || text != "x" {
		t.Errorf("request over a path of 100 bytes: got %q, %v, want x", text, err)
	}
	want := "the path of the control socket (" + tooLong +
		"/control.sock) has 101 bytes, but at most 100 are allowed; use a data directory with a shorter path"
	if _, err := (unixSocket{}).listen(tooLong, testRand()); err == nil || err.Error() != want {
		t.Errorf("listen = %v\nwant %s", err, want)
	}
	if _, err := (unixSocket{}).dial(t.Context(), tooLong); err == nil || err.Error() != want || errors.Is(err, ErrNoServer) {
		t.Errorf("dial = %v\nwant %s", err, want)
	}
	if left := fileNames(t, tooLong); left != "" {
		t.Errorf("files left: %s, want none", left)
	}
}

func TestListenWithoutDirectory(t *testing.T) {
	if _, err := (unixSocket{}).listen(filepath.Join(shortDir(t), "absent"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("listen = %v, want %v", err, fs.ErrNotExist)
	}
}
