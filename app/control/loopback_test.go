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
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if left := names(t, dir); left != "control.json" {
		t.Errorf("in the directory: %s", left)
	}
	if len(listener.Token) != 64 {
		t.Errorf("token %q", listener.Token)
	}
	if host, _, err := net.SplitHostPort(listener.Addr().String()); err != nil || host != "127.0.0.1" {
		t.Errorf("address %s, %v", listener.Addr(), err)
	}
}

func TestDamagedPortFileMeansNoServer(t *testing.T) {
	token := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, text := range map[string]string{
		"empty":            "",
		"cut":              `{"port": 4923`,
		"no token":         `{"port": 49231}`,
		"short token":      `{"port": 49231, "token": "0123"}`,
		"token not in hex": `{"port": 49231, "token": "x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`,
		"no port":          `{"token": "` + token + `"}`,
		"port too great":   `{"port": 65536, "token": "` + token + `"}`,
		"negative port":    `{"port": -1, "token": "` + token + `"}`,
		"null":             "null",
	} {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			if err := os.WriteFile(filepath.Join(dir, "control.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := (loopback{}).dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
				t.Errorf("dial: %v", err)
			}
			open(t, loopback{}, dir)
			if got, err := (loopback{}).token(dir); err != nil || len(got) != 64 {
				t.Errorf("token %q, %v", got, err)
			}
		})
	}
}

// The port of a killed server may belong to another program, which must not receive the token.
func TestOtherProgramOnPortMeansNoServer(t *testing.T) {
	for name, reply := range map[string]string{
		"that answers":      "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
		"that says little":  "hi",
		"that says nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := shortDir(t)
			stranger, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			heard := make(chan string, 1)
			go hearOnce(stranger, reply, heard)
			port := stranger.Addr().(*net.TCPAddr).Port
			token := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
			if err := writePortFile(dir, portFile{Port: port, Token: token}); err != nil {
				t.Fatal(err)
			}
			if _, err := (loopback{}).dial(t.Context(), dir); !errors.Is(err, ErrNoServer) {
				t.Errorf("dial: %v", err)
			}
			if got := <-heard; len(got) != 32 {
				t.Errorf("the stranger heard %d bytes: %q", len(got), got)
			}
			if err := stranger.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// hearOnce takes one question, gives reply, closes, and reports all that it heard.
func hearOnce(listener net.Listener, reply string, heard chan<- string) {
	conn, err := listener.Accept()
	if err != nil {
		heard <- err.Error()
		return
	}
	question := make([]byte, 32)
	n, _ := io.ReadFull(conn, question) // The test checks the bytes.
	_, _ = io.WriteString(conn, reply)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	rest, _ := io.ReadAll(conn)
	_ = conn.Close()
	heard <- string(append(question[:n], rest...))
}

func TestClientWithoutHandshakeGetsNothing(t *testing.T) {
	dir := shortDir(t)
	listener := open(t, loopback{}, dir)
	serve(t, listener, listener.Token)
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /admin/status HTTP/1.1\r\nHost: deedkeep\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer) < 32 || string(answer[32:44]) != "HTTP/1.1 400" {
		t.Errorf("a browser's request is answered with %q", answer)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestListenFailsWithoutRandomness(t *testing.T) {
	dir := shortDir(t)
	if _, err := (loopback{}).listen(dir, io.LimitReader(testRand(), 31)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if left := names(t, dir); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func FuzzParsePortFile(f *testing.F) {
	f.Add([]byte(`{"port": 49231, "token": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"port": 1e3}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if note, ok := parsePortFile(text); ok && (note.Port < 1 || note.Port > 65535 || len(note.Token) != 64) {
			t.Errorf("%q is read as %+v", text, note)
		}
	})
}
