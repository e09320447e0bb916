package httpx_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"deedkeep/app/httpx"
)

// oneConn is a listener with a single connection.
type oneConn struct{ conns chan net.Conn }

func (l oneConn) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l oneConn) Close() error   { close(l.conns); return nil }
func (l oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// A client that stops reading a response is disconnected within minutes, whatever the size of the
// response. A client that reads slowly gets all of it, even if that takes more than an hour.
func TestDeadlineWriter(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("x"), 8<<20)
	copies := map[string]func(io.Writer) (int64, error){
		"Write": func(w io.Writer) (int64, error) {
			return io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{bytes.NewReader(content)})
		},
		"ReadFrom":         func(w io.Writer) (int64, error) { return w.(io.ReaderFrom).ReadFrom(bytes.NewReader(content)) },
		"ReadFrom, a part": func(w io.Writer) (int64, error) { return io.CopyN(w, bytes.NewReader(content), int64(len(content))) },
	}
	for name, send := range copies {
		for _, stops := range []bool{false, true} {
			t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { sendTo(t, send, len(content), stops) }) })
		}
	}
}

// sendTo sends a response to a client that reads 2 KB per second, or stops reading after 100 KB.
func sendTo(t *testing.T, send func(io.Writer) (int64, error), size int, stops bool) {
	done := make(chan struct{})
	var sent int64
	var err error
	handler := httpx.SlowClientGuard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		w.Header().Set("Content-Type", "application/pdf")
		sent, err = send(httpx.NewDeadlineWriter(w, 0))
	}), time.Second)
	client, server := net.Pipe()
	listener := oneConn{make(chan net.Conn, 1)}
	listener.conns <- server
	s := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go s.Serve(listener)  //nolint:errcheck // it ends with the test
	defer s.Close()       //nolint:errcheck // it ends with the test
	defer client.Close()  //nolint:errcheck // it ends with the test
	started := time.Now() // of the bubble
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatalf("send the request: %v", err)
	}
	resp, readErr := http.ReadResponse(bufio.NewReader(client), nil)
	if readErr != nil {
		t.Fatalf("read the response: %v", readErr)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if !stops {
		got := 0
		for part := make([]byte, 2<<10); readErr == nil; time.Sleep(time.Second) {
			var n int
			n, readErr = io.ReadFull(resp.Body, part)
			got += n
		}
		<-done
		if got != size || sent != int64(size) || err != nil || time.Since(started) < time.Hour {
			t.Errorf("slow client: read %d bytes, sent %d, %v in %s; want %d in more than an hour", got, sent, err, time.Since(started), size)
		}
		return
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 100<<10); err != nil {
		t.Fatalf("read: %v", err)
	}
	<-done
	if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(started) > 6*time.Minute {
		t.Errorf("client that stopped: %v after %s, want %v within 6 minutes", err, time.Since(started), os.ErrDeadlineExceeded)
	}
}
