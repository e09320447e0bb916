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

// say writes a piece of a request; a server that has heard enough may have closed.
func say(t testing.TB, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Logf("write: %v", err)
	}
}

const tooSlow = `{"message":"The request body arrived too slowly."}`

func impatient(s *setup) { s.api.Limits.Stall = 50 * time.Millisecond }

// A body that stalls is answered, whoever sends it and whatever is read of it.
func TestStall(t *testing.T) {
	t.Parallel()
	h := open(t, impatient)
	for _, c := range []struct {
		name string
		row
		part string // of the body that is sent
	}{
		{"JSON", row{as: "full", path: "/v1/orders", header: []string{asJSON, "Content-Length: 100"}, status: 408, want: tooSlow}, `{"order_number":`},
		{"JSON, nothing sent", row{as: "full", path: "/v1/orders", header: []string{asJSON, "Content-Length: 100"}, status: 408, want: tooSlow}, ``},
		{"form in a field", row{as: "full", path: "/v1/abstracts", header: []string{asForm, "Content-Length: 900"}, status: 408, want: tooSlow}, `--XX` + "\r\n" + `Content-Disp`},
		{"form in a file", row{as: "full", path: "/v1/file-vault/upload", header: []string{asForm, "Content-Length: 900"}, status: 408, want: tooSlow}, strings.TrimSuffix(file("files", "a.pdf", pdf(1)), "\n")},
		{"form in a refused file", row{as: "full", path: "/v1/file-vault/upload", header: []string{asForm, "Content-Length: 900"}, status: 408, want: tooSlow}, file("files", "a.exe", pdf(1))},
		{"chunked", row{as: "full", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, status: 408, want: tooSlow}, "5\r\n{\"ord\r\n"},
		{"without a type", row{as: "full", path: "/v1/orders", header: []string{"Content-Length: 9"}, status: 408, want: tooSlow}, ""},
		{"bad key", row{as: "bad", path: "/v1/orders", header: []string{asJSON, "Content-Length: 9"}, status: 401}, ""},
		{"no ability", row{as: "read", path: "/v1/orders", header: []string{asJSON, "Content-Length: 9"}, status: 403}, "x"},
		{"no route", row{as: "full", path: "/v1/nowhere", header: []string{asJSON, "Content-Length: 9"}, status: 404}, "x"},
		{"wrong type", row{as: "full", path: "/v1/orders", header: []string{"Content-Type: text/plain", "Content-Length: 9"}, status: 415}, "x"},
		{"a body that nobody reads", row{as: "full", method: "GET", path: "/v1/order-fields", header: []string{"Content-Length: 9"}, status: 200}, "x"},
		{"OPTIONS", row{method: "OPTIONS", path: "/v1/order-fields", header: []string{"Content-Length: 9"}, status: 204}, "x"},
		{"malformed host", row{as: "full", path: "/v1/orders", header: []string{"Host: a,b", "Content-Length: 9"}, status: 400}, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.method == "" {
				c.method = "POST"
			}
			for _, more := range []string{"close", "keep-alive"} { // net/http reads on where it means to
				c.header = append(c.header, "Connection: "+more)
				conn := h.dial(t)
				defer conn.Close()
				say(t, conn, h.text(c.row)+c.part)
				h.hear(t, c.row, bufio.NewReader(conn))
				c.header = c.header[:len(c.header)-1]
			}
		})
	}
	t.Cleanup(func() { h.nothingStored(t) })
}

// A client that trickles below the floor is cut, one above it is not.
func TestMinRate(t *testing.T) {
	t.Parallel()
	h := open(t, impatient, func(s *setup) { s.api.Limits.MinRate = 1 << 30 })
	conn := h.dial(t)
	defer conn.Close()
	r := row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, status: 408, want: tooSlow}
	answered := make(chan struct{})
	go func() {
		say(t, conn, h.text(r))
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-answered:
				return
			case <-tick.C:
				if _, err := io.WriteString(conn, "1\r\n \r\n"); err != nil {
					return
				}
			}
		}
	}()
	h.hear(t, r, bufio.NewReader(conn))
	close(answered)
}

// Expect: 100-continue is answered where the body is wanted; a request that is
// refused by its head is told so before its body is sent.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := parts(file("files", "a.pdf", pdf(1)))
	length := fmt.Sprintf("Content-Length: %d", len(body))
	for _, c := range []struct {
		as, path, mediaType string
		status              int
		wanted              bool
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
			conn := h.dial(t)
			defer conn.Close()
			r := row{as: c.as, method: "POST", path: c.path, header: []string{c.mediaType, length, "Expect: 100-continue"}, status: c.status}
			say(t, conn, h.text(r))
			answers := bufio.NewReader(conn)
			if c.wanted {
				first, err := http.ReadResponse(answers, nil)
				if err != nil || first.StatusCode != http.StatusContinue {
					t.Fatalf("%v, %v", first, err)
				}
				say(t, conn, body)
			}
			h.hear(t, r, answers)
		})
	}
	// Too long for any answer but one, and said before a byte is sent.
	conn := h.dial(t)
	defer conn.Close()
	r := row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Content-Length: 999999999", "Expect: 100-continue"}, status: 413}
	say(t, conn, h.text(r))
	h.hear(t, r, bufio.NewReader(conn))
}

// Chunked bodies of unknown length are as good as any.
func TestChunked(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, size := range []int{1, 7, 1 << 20} {
		h.ask(t, row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, body: chunked(`{"order_number":"T-1"}`, size), status: 201, want: bareOrder})
		h.ask(t, row{as: "full", method: "POST", path: "/v1/file-vault/upload", header: []string{asForm, "Transfer-Encoding: chunked"},
			body: chunked(parts(file("files", "a.pdf", pdf(1))), size), status: 201})
	}
	h.ask(t, row{as: "full", method: "POST", path: "/v1/abstracts", header: []string{"Transfer-Encoding: chunked"}, body: "0\r\n\r\n", status: 201})
	h.ask(t, row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, body: "zz\r\n{}\r\n0\r\n\r\n", status: 400})
}

// An upload that breaks off leaves nothing, and holds nobody up.
func TestBreakOff(t *testing.T) {
	t.Parallel()
	h := open(t)
	whole := h.text(upload("full", 0, field("folder_id", "1"), file("files", "a.pdf", pdf(1)), file("files", "b.pdf", strings.Repeat("x", 300<<10))))
	head := strings.Index(whole, "\r\n\r\n") + 4
	for _, at := range []int{head, head + 3, head + 40, strings.Index(whole, "a.pdf"), strings.Index(whole, "%%EOF"), strings.Index(whole, "b.pdf"), len(whole) - 200<<10, len(whole) - 5} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			for _, half := range []bool{false, true} {
				conn := h.dial(t)
				say(t, conn, whole[:at])
				if half { // the client still listens
					if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
						t.Fatal(err)
					}
					h.hear(t, upload("full", 400), bufio.NewReader(conn))
				}
				conn.Close()
			}
		})
	}
	h.server.Close() // waits for the handlers
	h.nothingStored(t)
	files, err := h.vault.Files.Get(t.Context(), 1)
	if err == nil {
		t.Errorf("a file: %+v", files)
	}
}

// A body that never ends is cut at its limit, and the client learns why.
func TestEndless(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) {
		s.api.Limits.RequestBody, s.api.Limits.JSON, s.vault.Settings.FileSize = 1<<20, 1<<16, 1<<18
	})
	for _, c := range []struct {
		row
		start string
	}{
		{row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, status: 413, want: says("The request body must not be larger than 65536 bytes.")}, "{"},
		{row{as: "full", method: "POST", path: "/v1/file-vault/upload", header: []string{asForm, "Transfer-Encoding: chunked"}, status: 413, want: says("The request body must not be larger than 1048576 bytes.")},
			file("files", "a.pdf", pdf(1)) + "--XX\r\nContent-Disposition: form-data; name=files; filename=b.pdf\r\n\r\n"},
	} {
		conn := h.dial(t)
		go func() {
			say(t, conn, h.text(c.row)+chunked(c.start, 1<<20)[:len(chunked(c.start, 1<<20))-5])
			filler := fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat(" ", 1<<16))
			for {
				if _, err := io.WriteString(conn, filler); err != nil {
					return // the answer is there and the connection closed
				}
			}
		}()
		h.hear(t, c.row, bufio.NewReader(conn))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, io.ErrNoProgress) {
			t.Error("the connection stays open")
		}
		conn.Close()
	}
	h.nothingStored(t)
}

// A connection serves on after a refusal whose body was read.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	h := open(t)
	conn := h.dial(t)
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for range 3 {
		for _, r := range []row{order(`{"order_number":"T-1"}`, 201, bareOrder), order(`{"order_number":`, 400, ""), {as: "full", method: "POST", path: "/v1/nowhere", body: "xxxx", status: 404},
			{as: "full", method: "POST", path: "/v1/orders", header: []string{"Content-Type: text/plain"}, body: "xxxx", status: 415}, {as: "read", method: "POST", path: "/v1/orders", body: "x", status: 403}} {
			r.header = append(r.header, "Connection: keep-alive")
			say(t, conn, h.text(r))
			h.hear(t, r, answers)
		}
	}
}
