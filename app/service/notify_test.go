//go:build unix

package service

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A service manager gets each state on its socket.
func TestNotifier(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	called := 0
	n := Notifier{OnReady: func() { called++ }}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { n.Ready("http://127.0.0.1:8080") }, "READY=1\nSTATUS=listening on http://127.0.0.1:8080"},
		{n.Restarting, "RELOADING=1\n"}, {n.Stopping, "STOPPING=1\n"},
	} {
		step.do()
		buf := make([]byte, 500)
		_ = socket.SetReadDeadline(time.Now().Add(10 * time.Second))
		size, err := socket.Read(buf)
		if got := string(buf[:size]); err != nil || !strings.HasPrefix(got, step.want) {
			t.Errorf("got %q, %v, want %q", got, err, step.want)
		}
	}
	if called != 1 {
		t.Errorf("OnReady was called %d times, want once", called)
	}
}
