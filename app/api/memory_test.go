package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/httpx"
)

// smallBudget sets a memory budget that is large enough for only one large body at a time.
func smallBudget(wait time.Duration) func(*testConfig) {
	return func(cfg *testConfig) {
		cfg.api.Limits.JSON, cfg.api.Limits.FormFields, cfg.api.Memory = 1<<20, 1<<20, httpx.NewMemoryBudget(2<<20, wait)
	}
}

const tooBusy = `{"message":"Too many large requests at the same time. Try again in a moment."}`

// largeOrder returns a call that creates an order. The body is padded with size spaces.
func largeOrder(number string, size int) call {
	return orderCall(fmt.Sprintf(`{"order_number":%q%s}`, number, strings.Repeat(" ", size)), 201, "")
}

// acquireDecoded reserves all memory for decoding. The memory is available again after
// release is called.
func acquireDecoded(t *testing.T, budget *httpx.MemoryBudget) (release func()) {
	t.Helper()
	r := budget.Reserve("other", nil)
	if err := r.AcquireDecoded(t.Context(), 1<<40); err != nil {
		t.Fatalf("acquire all memory for decoding: %v", err)
	}
	return r.Release
}

// sendHead sends the headers of a request and waits for 100 Continue.
func (srv *testServer) sendHead(t *testing.T, r call) (net.Conn, *bufio.Reader, string) {
	t.Helper()
	conn := srv.dial(t)
	r.header = append(r.header, "Expect: 100-continue")
	head, body, _ := strings.Cut(srv.requestText(r), "\r\n\r\n")
	if _, err := io.WriteString(conn, head+"\r\n\r\n"); err != nil {
		t.Fatalf("write request: %v", err)
	}
	reader := bufio.NewReader(conn)
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := reader.ReadString('\n'); err != nil || line != want {
			t.Fatalf("line = %q, %v, want %q", line, err, want)
		}
	}
	return conn, reader, body
}

// waitForMemory waits until at least small and large bytes of the budget's two parts are in
// use.
func waitForMemory(t *testing.T, budget *httpx.MemoryBudget, small, large int64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		hasSmall, hasLarge := budget.InUse()
		if hasSmall >= small && hasLarge >= large {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("memory in use = %d and %d bytes, want at least %d and %d", hasSmall, hasLarge, small, large)
		}
	}
}

// While one large body uses up the memory share of its key, other large bodies with the
// same key get a 503, regardless of their media type. Small bodies and bodies with other
// keys are accepted.
func TestMemoryBudgetForBodies(t *testing.T) {
	t.Parallel()
	var budget *httpx.MemoryBudget
	srv := newTestServer(t, smallBudget(10*time.Millisecond), func(cfg *testConfig) { budget = cfg.api.Memory })
	first := largeOrder("T-1", 1<<19)
	first.body += strings.Repeat(" ", 1<<20-len(first.body))
	conn, reader, body := srv.sendHead(t, first)
	defer conn.Close()
	writeText(t, conn, body[:len(body)-1])
	waitForMemory(t, budget, 0, 1<<19)
	for name, r := range map[string]call{
		"JSON": largeOrder("T-2", 1<<19+1<<18),
		"chunked": {as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"},
			body: chunkedBody(largeOrder("T-2", 70<<10).body, 8000)},
		"pairs":  {as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: "x=" + strings.Repeat("y", 1<<20-2)},
		"fields": abstractCall(0, "", fieldPart("custom_fields", strings.Repeat(" ", 65<<10)), filePart("files", "a.pdf", pdf(1))),
		"patch": {as: "full", method: "PATCH", path: "/v1/file-vault/folders/1", header: []string{asJSON},
			body: largeOrder("", 1<<20-100).body},
	} {
		r.status, r.want, r.headers = 503, tooBusy, map[string]string{"Retry-After": "10"}
		t.Run(name, func(t *testing.T) { srv.do(t, r) })
	}
	others := largeOrder("T-2", 1<<19+1<<18)
	others.as = "other"
	srv.do(t, others)
	srv.do(t, orderCall(`{"order_number":"T-3"}`, 201, ""))
	srv.do(t, call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"},
		body: chunkedBody(`{"order_number":"T-3"}`, 3), status: 201})
	// Files don't need any memory from the budget.
	srv.do(t, abstractCall(201, "", fieldPart("city", "Salem"), filePart("files", "a.pdf", strings.Repeat(pdf(1), 50_000))))
	writeText(t, conn, body[len(body)-1:])
	srv.readReply(t, first, reader)
	srv.do(t, largeOrder("T-4", 1<<19+1<<18)) // succeeds only if the memory was released
	srv.do(t, abstractCall(422, "", fieldPart("custom_fields", strings.Repeat("x", 1<<20-100))))
	srv.do(t, largeOrder("T-5", 1<<19+1<<18))
}

// Stalled bodies with the same key never use more than half of the budget. A request with
// another key gets memory immediately.
func TestMemoryBudgetPerKey(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name           string
		connections    int
		declared, sent int
		small, large   int64 // min bytes in use while the bodies are stalled
		probe          int
	}{
		{"small bodies", 150, 64_000, 60_000, 4<<20 - 64_000, 0, 60_000},
		{"large bodies of which little came", 10, 8_300_000, 70_000, 0, 10 * 70_000, 200_000},
		{"large bodies", 10, 8_300_000, 8_000_000, 0, 9 << 20, 200_000},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			budget := httpx.NewMemoryBudget(64<<20, time.Minute)
			srv := newTestServer(t, func(cfg *testConfig) { cfg.api.Memory = budget })
			stalled := orderCall(strings.Repeat(" ", row.declared), 0, "")
			half := srv.requestText(stalled)[:len(srv.requestText(stalled))-row.declared+row.sent]
			probe := largeOrder("T-1", row.probe)
			probe.as = "other"
			for range 2 {
				var all sync.WaitGroup
				for range row.connections {
					conn := srv.dial(t)
					defer conn.Close()
					all.Go(func() { _, _ = io.WriteString(conn, half) }) // blocks because the server stops reading bodies that wait for memory
				}
				waitForMemory(t, budget, row.small, row.large)
				srv.do(t, probe)
				srv.server.CloseClientConnections()
				all.Wait()
			}
		})
	}
}

// Decoding has its own part of the memory budget. Bodies with many members wait for that
// memory and get a 503 if it doesn't become available, regardless of their media type.
// Ordinary bodies don't have to wait.
func TestMemoryBudgetForDecoding(t *testing.T) {
	t.Parallel()
	var budget *httpx.MemoryBudget
	srv := newTestServer(t, smallBudget(10*time.Millisecond), func(cfg *testConfig) { budget = cfg.api.Memory })
	release := acquireDecoded(t, budget)
	members := `{"x":[` + strings.Repeat("0,", 1000) + "0]}"
	for name, r := range map[string]call{
		"JSON":   orderCall(members, 422, ""),
		"pairs":  {as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: strings.Repeat("x=&", 1000), status: 201},
		"fields": abstractCall(201, "", fieldPart("custom_fields", members)),
		"patch":  {as: "full", method: "PATCH", path: "/v1/file-vault/folders/1", header: []string{asJSON}, body: members, status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			busy := r
			busy.status, busy.want, busy.headers = 503, tooBusy, map[string]string{"Retry-After": "10"}
			srv.do(t, busy)
			release()
			srv.do(t, r)
			release = acquireDecoded(t, budget)
		})
	}
	srv.do(t, orderCall(`{"order_number":"T-1","custom_fields":{"product":"Two Owner","rush":"Standard"}}`, 201, ""))
	srv.do(t, abstractCall(201, "", fieldPart("city", "Salem")))
	release()
}

// A stalled body times out sooner if it has memory reserved.
func TestStallInMemory(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) {
		cfg.api.Limits.Stall, cfg.api.Limits.StallInMemory = time.Minute, 50*time.Millisecond
	})
	for name, r := range map[string]call{
		"JSON": {path: "/v1/orders", header: []string{asJSON, "Content-Length: 9000"}, body: strings.Repeat(" ", 5000)},
		"chunked": {path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"},
			body: "1388\r\n" + strings.Repeat(" ", 5000) + "\r\n"},
		"fields": {path: "/v1/abstracts", header: []string{asForm, "Content-Length: 900000"},
			body: strings.TrimSuffix(formBody(fieldPart("custom_fields", strings.Repeat(" ", 80<<10))), "\r\n--XX--\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.as, r.method, r.status, r.want = "full", "POST", 408, tooSlow
			conn := srv.dial(t)
			defer conn.Close()
			writeText(t, conn, srv.requestText(r))
			srv.readReply(t, r, bufio.NewReader(conn))
		})
	}
}

// A request with a large body waits until memory is available.
func TestMemoryBudgetIsAwaited(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, smallBudget(20*time.Second))
	conn, reader, body := srv.sendHead(t, largeOrder("T-1", 1<<20-100))
	defer conn.Close()
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() { srv.do(t, largeOrder(fmt.Sprintf("T-%d", i+2), 1<<19+1<<18)) })
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatalf("write request: %v", err)
	}
	srv.readReply(t, largeOrder("T-1", 0), reader)
	wait.Wait()
	srv.checkCounts(t, 0, 7, 0)
}

// If a client disconnects while it is waiting for memory or sending a body, its memory is
// released.
func TestMemoryBudgetIsReleased(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, smallBudget(5*time.Second))
	for range 5 {
		conn, _, body := srv.sendHead(t, largeOrder("T-1", 1<<20-100))
		if _, err := io.WriteString(conn, body[:1000]); err != nil {
			t.Fatalf("write request: %v", err)
		}
		if err := conn.Close(); err != nil {
			t.Fatalf("close connection: %v", err)
		}
	}
	srv.do(t, largeOrder("T-2", 1<<20-100))
	for range 10 { // together, more than the budget for small bodies
		srv.do(t, largeOrder("T-3", 60<<10))
		srv.do(t, abstractCall(201, "", fieldPart("custom_fields", strings.Repeat(" ", 60<<10))))
	}
}
