package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// writeText writes text to conn. Write errors are only logged because the server may
// already have closed the connection.
func writeText(t testing.TB, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Logf("write: %v", err)
	}
}

const tooSlow = `{"message":"The request body arrived too slowly."}`

func withShortStall(cfg *testConfig) { cfg.api.Limits.Stall = 50 * time.Millisecond }

// If a body stalls, the client gets a response, regardless of its credentials and of how
// much of the body the server reads.
func TestStall(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withShortStall)
	for _, c := range []struct {
		name string
		call
		part string // the part of the body that the client sends
	}{
		{"JSON", call{as: "full", path: "/v1/orders", header: []string{asJSON, "Content-Length: 100"}, status: 408, want: tooSlow},
			`{"order_number":`},
		{"JSON, nothing sent", call{as: "full", path: "/v1/orders", header: []string{asJSON, "Content-Length: 100"}, status: 408,
			want: tooSlow}, ``},
		{"form in a field", call{as: "full", path: "/v1/abstracts", header: []string{asForm, "Content-Length: 900"}, status: 408,
			want: tooSlow}, `--XX` + "\r\n" + `Content-Disp`},
		{"form in a file", call{as: "full", path: "/v1/file-vault/upload", header: []string{asForm, "Content-Length: 900"}, status: 408,
			want: tooSlow}, strings.TrimSuffix(filePart("files", "a.pdf", pdf(1)), "\n")},
		{"form in a rejected file", call{as: "full", path: "/v1/file-vault/upload", header: []string{asForm, "Content-Length: 900"},
			status: 408, want: tooSlow}, filePart("files", "a.exe", pdf(1))},
		{"chunked", call{as: "full", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, status: 408,
			want: tooSlow}, "5\r\n{\"ord\r\n"},
		{"no media type", call{as: "full", path: "/v1/orders", header: []string{"Content-Length: 9"}, status: 408, want: tooSlow}, ""},
		{"bad key", call{as: "bad", path: "/v1/orders", header: []string{asJSON, "Content-Length: 9"}, status: 401}, ""},
		{"no ability", call{as: "read", path: "/v1/orders", header: []string{asJSON, "Content-Length: 9"}, status: 403}, "x"},
		{"no route", call{as: "full", path: "/v1/nowhere", header: []string{asJSON, "Content-Length: 9"}, status: 404}, "x"},
		{"wrong media type", call{as: "full", path: "/v1/orders", header: []string{"Content-Type: text/plain", "Content-Length: 9"},
			status: 415}, "x"},
		{"a body that the server does not read", call{as: "full", method: "GET", path: "/v1/order-fields", header: []string{"Content-Length: 9"},
			status: 200}, "x"},
		{"OPTIONS", call{method: "OPTIONS", path: "/v1/order-fields", header: []string{"Content-Length: 9"}, status: 204}, "x"},
		{"malformed host", call{as: "full", path: "/v1/orders", header: []string{"Host: a,b", "Content-Length: 9"}, status: 400}, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.method == "" {
				c.method = "POST"
			}
			for _, connection := range []string{"close", "keep-alive"} { // with keep-alive, net/http reads the rest of the body
				c.header = append(c.header, "Connection: "+connection)
				conn := srv.dial(t)
				defer conn.Close()
				writeText(t, conn, srv.requestText(c.call)+c.part)
				srv.readReply(t, c.call, bufio.NewReader(conn))
				c.header = c.header[:len(c.header)-1]
			}
		})
	}
	t.Cleanup(func() { srv.checkNothingStored(t) })
}

// If a body arrives more slowly than the minimum rate, the client gets a 408.
func TestMinRate(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withShortStall, func(cfg *testConfig) { cfg.api.Limits.MinRate = 1 << 30 })
	conn := srv.dial(t)
	defer conn.Close()
	r := call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, status: 408,
		want: tooSlow}
	done := make(chan struct{})
	go func() {
		writeText(t, conn, srv.requestText(r))
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if _, err := io.WriteString(conn, "1\r\n \r\n"); err != nil {
					return
				}
			}
		}
	}()
	srv.readReply(t, r, bufio.NewReader(conn))
	close(done)
}

// The server sends 100 Continue when it wants the body. If it rejects the request because
// of its headers, it sends the error before it reads the body.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	body := formBody(filePart("files", "a.pdf", pdf(1)))
	length := fmt.Sprintf("Content-Length: %d", len(body))
	for _, c := range []struct {
		as, path, mediaType string
		status              int
		wantsBody           bool
	}{
		{"full", "/v1/file-vault/upload", asForm, 201, true},
		{"bad", "/v1/file-vault/upload", asForm, 401, false},
		{"read", "/v1/file-vault/upload", asForm, 403, false},
		{"full", "/v1/file-vault/nowhere", asForm, 404, false},
		{"full", "/v1/order-fields", asForm, 405, false},
		{"full", "/v1/file-vault/upload", asJSON, 415, false},
		{"full", "/v1/abstracts/aaaaaaaaaaa/files", asForm, 404, false},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			conn := srv.dial(t)
			defer conn.Close()
			r := call{as: c.as, method: "POST", path: c.path, header: []string{c.mediaType, length, "Expect: 100-continue"}, status: c.status}
			writeText(t, conn, srv.requestText(r))
			reader := bufio.NewReader(conn)
			if c.wantsBody {
				first, err := http.ReadResponse(reader, nil)
				if err != nil || first.StatusCode != http.StatusContinue {
					t.Fatalf("first response = %v, %v, want 100 Continue", first, err)
				}
				writeText(t, conn, body)
			}
			srv.readReply(t, r, reader)
		})
	}
	// If a body is too large, the request is rejected before any byte of the body is sent.
	conn := srv.dial(t)
	defer conn.Close()
	r := call{as: "full", method: "POST", path: "/v1/orders",
		header: []string{asJSON, "Content-Length: 999999999", "Expect: 100-continue"}, status: 413}
	writeText(t, conn, srv.requestText(r))
	srv.readReply(t, r, bufio.NewReader(conn))
}

// Bodies with chunked transfer encoding are accepted.
func TestChunked(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for _, size := range []int{1, 7, 1 << 20} {
		srv.do(t, call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"},
			body: chunkedBody(`{"order_number":"T-1"}`, size), status: 201, want: bareOrder})
		srv.do(t, call{as: "full", method: "POST", path: "/v1/file-vault/upload", header: []string{asForm, "Transfer-Encoding: chunked"},
			body: chunkedBody(formBody(filePart("files", "a.pdf", pdf(1))), size), status: 201})
	}
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{"Transfer-Encoding: chunked"},
		body: "0\r\n\r\n", status: 201})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"},
		body: "zz\r\n{}\r\n0\r\n\r\n", status: 400})
}

// An interrupted upload leaves no files in the data directory.
func TestInterruptedUpload(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	text := srv.requestText(uploadCall("full", 0, fieldPart("folder_id", "1"), filePart("files", "a.pdf", pdf(1)),
		filePart("files", "b.pdf", strings.Repeat("x", 300<<10))))
	head := strings.Index(text, "\r\n\r\n") + 4
	for _, at := range []int{head, head + 3, head + 40, strings.Index(text, "a.pdf"), strings.Index(text, "%%EOF"),
		strings.Index(text, "b.pdf"), len(text) - 200<<10, len(text) - 5} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			for _, half := range []bool{false, true} {
				conn := srv.dial(t)
				writeText(t, conn, text[:at])
				if half { // the client closed only its sending direction, so it can still read
					if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
						t.Fatalf("close write side: %v", err)
					}
					srv.readReply(t, uploadCall("full", 400), bufio.NewReader(conn))
				}
				conn.Close()
			}
		})
	}
	srv.server.Close() // waits for the handlers
	srv.checkNothingStored(t)
	files, err := srv.vault.Files.Get(t.Context(), 1)
	if err == nil {
		t.Errorf("Files.Get = %+v, want an error", files)
	}
}

// The server stops reading an endless body at the size limit and tells the client the
// limit.
func TestEndless(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) {
		cfg.api.Limits.RequestBody, cfg.api.Limits.JSON, cfg.vault.Settings.FileSize = 1<<20, 1<<16, 1<<18
	})
	for _, c := range []struct {
		call
		start string
	}{
		{call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, status: 413,
			want: messageBody("The request body must not be larger than 65536 bytes.")}, "{"},
		{call{as: "full", method: "POST", path: "/v1/file-vault/upload", header: []string{asForm, "Transfer-Encoding: chunked"},
			status: 413, want: messageBody("The request body must not be larger than 1048576 bytes.")},
			filePart("files", "a.pdf", pdf(1)) + "--XX\r\nContent-Disposition: form-data; name=files; filename=b.pdf\r\n\r\n"},
	} {
		t.Run(c.path, func(t *testing.T) {
			conn := srv.dial(t)
			go func() {
				writeText(t, conn, srv.requestText(c.call)+chunkedBody(c.start, 1<<20)[:len(chunkedBody(c.start, 1<<20))-5])
				filler := fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat(" ", 1<<16))
				for {
					if _, err := io.WriteString(conn, filler); err != nil {
						return // the server responded and closed the connection
					}
				}
			}()
			srv.readReply(t, c.call, bufio.NewReader(conn))
			if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, io.ErrNoProgress) {
				t.Error("the connection is still open, want it closed")
			}
			conn.Close()
		})
	}
	srv.checkNothingStored(t)
}

// If the server reads the entire body of a failed request, the connection can be reused.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	conn := srv.dial(t)
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for range 3 {
		for _, r := range []call{orderCall(`{"order_number":"T-1"}`, 201, bareOrder), orderCall(`{"order_number":`, 400, ""),
			{as: "full", method: "POST", path: "/v1/nowhere", body: "xxxx", status: 404},
			{as: "full", method: "POST", path: "/v1/orders", header: []string{"Content-Type: text/plain"}, body: "xxxx", status: 415},
			{as: "read", method: "POST", path: "/v1/orders", body: "x", status: 403}} {
			r.header = append(r.header, "Connection: keep-alive")
			writeText(t, conn, srv.requestText(r))
			srv.readReply(t, r, reader)
		}
	}
}
