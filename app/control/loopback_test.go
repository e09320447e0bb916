package control

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestPortFileIsPrivate(t *testing.T) {
	dir := shortDir(t)
	listener := open(t, loopback{}, dir)
	info, err := os.Stat(filepath.Join(dir, "control.json"))
	if err != nil {
		t.Fatalf("stat port file: %v", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the port file = %v, want 0600", info.Mode())
	}
	if left := fileNames(t, dir); left != "control.json" {
		t.Errorf("directory has %s, want control.json", left)
	}
	if len(listener.Token) != 64 {
		t.Errorf("token %q has %d characters, want 64", listener.Token, len(listener.Token))
	}
	if host, _, err := net.SplitHostPort(listener.Addr().String()); err != nil || host != "127.0.0.1" {
		t.Errorf("address = %s, %v, want 127.0.0.1", listener.Addr(), err)
	}
}

func TestDamagedPortFileMeansNoServer(t *testing.T) {
	token := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, text := range map[string]string{
		"empty":            "",
		"truncated":        `{"port": 4923`,
		"no token":         `{"port": 49231}`,
		"short token":      `{"port": 49231, "token": "0123"}`,
		"token not in hex": `{"port": 49231, "token": "x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`,
		"no port":          `{"token": "` + token + `"}`,
		"port too large":   `{"port": 65536, "token": "` + token + `"}`,
		"negative port":    `{"port": -1, "token": "` + token + `"}`,
		"null":             "null",
	} {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			if err := os.WriteFile(filepath.Join(dir, "control.json"), []byte(text), 0o600); err != nil {
				t.Fatalf("write port file: %v", err)
			}
			if _, err := (loopback{}).dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
				t.Errorf("dial = %v, want %v", err, ErrNoServer)
			}
			open(t, loopback{}, dir)
			if got, err := (loopback{}).token(dir); err != nil || len(got) != 64 {
				t.Errorf("token = %q, %v, want 64 characters", got, err)
			}
		})
	}
}

// The port of a killed server may now belong to another program. That program must not receive the token.
func TestOtherProgramOnPortMeansNoServer(t *testing.T) {
	for name, reply := range map[string]string{
		"sends an HTTP response": "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
		"sends two bytes":        "hi",
		"sends nothing":          "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			other, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatalf("listen: %v", err)
			}
			received := make(chan string, 1)
			go replyOnce(other, reply, received)
			port := other.Addr().(*net.TCPAddr).Port
			token := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
			if err := writePortFile(dir, portFile{Port: port, Token: token}); err != nil {
				t.Fatalf("write port file: %v", err)
			}
			if _, err := (loopback{}).dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
				t.Errorf("dial = %v, want %v", err, ErrNoServer)
			}
			if got := <-received; len(got) != 32 {
				t.Errorf("the other program received %d bytes: %q, want 32", len(got), got)
			}
			if err := other.Close(); err != nil {
				t.Errorf("close listener: %v", err)
			}
		})
	}
}

// replyOnce accepts one connection, reads 32 bytes, and sends reply. It sends all bytes that it read to the channel
// received.
func replyOnce(listener net.Listener, reply string, received chan<- string) {
	conn, err := listener.Accept()
	if err != nil {
		received <- err.Error()
		return
	}
	first := make([]byte, 32)
	n, _ := io.ReadFull(conn, first) // the test checks the bytes
	_, _ = io.WriteString(conn, reply)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	rest, _ := io.ReadAll(conn)
	_ = conn.Close()
	received <- string(append(first[:n], rest...))
}

func TestClientWithoutHandshakeGetsStatus400(t *testing.T) {
	dir := shortDir(t)
	listener := open(t, loopback{}, dir)
	serve(t, listener, listener.Token)
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	if _, err := io.WriteString(conn, "GET /admin/status HTTP/1.1\r\nHost: deedkeep\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatalf("send request: %v", err)
	}
	response, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	if len(response) < 32 || string(response[32:44]) != "HTTP/1.1 400" {
		t.Errorf("response to a request of a browser = %q, want status 400 after the handshake", response)
	}
	if err := conn.Close(); err != nil {
		t.Errorf("close connection: %v", err)
	}
}

func TestListenFailsWithoutRandomness(t *testing.T) {
	dir := shortDir(t)
	if _, err := (loopback{}).listen(dir, io.LimitReader(testRand(), 31)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("listen = %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if left := fileNames(t, dir); left != "" {
		t.Errorf("files left: %s, want none", left)
	}
}

func FuzzParsePortFile(f *testing.F) {
	f.Add([]byte(`{"port": 49231, "token": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"port": 1e3}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if file, ok := parsePortFile(text); ok && (file.Port < 1 || file.Port > 65535 || len(file.Token) != 64) {
			t.Errorf("parsePortFile(%q) = %+v, want a port from 1 to 65535 and a token of 64 characters", text, file)
		}
	})
}
