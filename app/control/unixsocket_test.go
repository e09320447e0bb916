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
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, want a socket, 0600", info.Mode())
	}
	if left := names(t, dir); left != "control.sock" {
		t.Errorf("in the directory: %s", left)
	}
}

func TestOnlyASocketIsReplaced(t *testing.T) {
	for name, put := range map[string]func(path string) error{
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
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = unixSocket{}.listen(dir, testRand())
			if want := "open the control socket: " + path + " is there and is not a socket; move it away"; err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("it was replaced: %v, %v", after, err)
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
			t.Fatal(err)
		}
	}
	serve(t, open(t, unixSocket{}, fits), "")
	if _, text, err := ask(t, roundTripper(unixSocket{}, fits), "x"); err != nil || text != "x" {
		t.Errorf("100 bytes: %q, %v", text, err)
	}
	want := "the control socket's path " + tooLong +
		"/control.sock has 101 bytes, at most 100 are possible: choose a shorter directory for the setting data"
	if _, err := (unixSocket{}).listen(tooLong, testRand()); err == nil || err.Error() != want {
		t.Errorf("open: %v\nwant %s", err, want)
	}
	if _, err := (unixSocket{}).dial(t.Context(), tooLong); err == nil || err.Error() != want || errors.Is(err, ErrNoServer) {
		t.Errorf("dial: %v\nwant %s", err, want)
	}
	if left := names(t, tooLong); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestSocketNeedsItsDirectory(t *testing.T) {
	if _, err := (unixSocket{}).listen(filepath.Join(shortDir(t), "absent"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
