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

// tight leaves room for one large body at a time.
func tight(wait time.Duration) func(*setup) {
	return func(s *setup) {
		s.api.Limits.JSON, s.api.Limits.FormFields, s.api.Memory = 1<<20, 1<<20, httpx.NewMemoryBudget(2<<20, wait)
	}
}

const tooBusy = `{"message":"Too many large requests at once; try again in a moment."}`

// large is an order of so many bytes, most of them blanks.
func large(number string, size int) row {
	return order(fmt.Sprintf(`{"order_number":%q%s}`, number, strings.Repeat(" ", size)), 201, "")
}

// acquireDecoded takes all memory for decoding, until release is called.
func acquireDecoded(t *testing.T, budget *httpx.MemoryBudget) (release func()) {
	t.Helper()
	r := budget.Reserve("other", nil)
	if err := r.AcquireDecoded(t.Context(), 1<<40); err != nil {
		t.Fatalf("acquire all memory for decoding: %v", err)
	}
	return r.Release
}

// begin sends the head of a request and waits until its body is asked for.
func (h *house) begin(t *testing.T, r row) (net.Conn, *bufio.Reader, string) {
	t.Helper()
	conn := h.dial(t)
	r.header = append(r.header, "Expect: 100-continue")
	head, body, _ := strings.Cut(h.text(r), "\r\n\r\n")
	if _, err := io.WriteString(conn, head+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(conn)
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := from.ReadString('\n'); err != nil || line != want {
			t.Fatalf("%q, %v", line, err)
		}
	}
	return conn, from, body
}

// fills waits until the bodies of a room's requests hold these numbers of bytes.
func fills(t *testing.T, room *httpx.MemoryBudget, small, large int64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		hasSmall, hasLarge := room.InUse()
		if hasSmall >= small && hasLarge >= large {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d and %d bytes are held, want %d and %d", hasSmall, hasLarge, small, large)
		}
	}
}

// While one large body holds a key's half of the room, another of that key gets a 503,
// of whatever media type it is. Small ones are taken, and those of another key.
func TestRoomForBodies(t *testing.T) {
	t.Parallel()
	var room *httpx.MemoryBudget
	h := open(t, tight(10*time.Millisecond), func(s *setup) { room = s.api.Memory })
	first := large("T-1", 1<<19)
	first.body += strings.Repeat(" ", 1<<20-len(first.body))
	conn, from, body := h.begin(t, first)
	defer conn.Close()
	say(t, conn, body[:len(body)-1])
	fills(t, room, 0, 1<<19)
	for name, r := range map[string]row{
		"JSON":    large("T-2", 1<<19+1<<18),
		"chunked": {as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, body: chunked(large("T-2", 70<<10).body, 8000)},
		"pairs":   {as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: "x=" + strings.Repeat("y", 1<<20-2)},
		"fields":  abstract(0, "", field("custom_fields", strings.Repeat(" ", 65<<10)), file("files", "a.pdf", pdf(1))),
		"patch":   {as: "full", method: "PATCH", path: "/v1/file-vault/folders/1", header: []string{asJSON}, body: large("", 1<<20-100).body},
	} {
		r.status, r.want, r.headers = 503, tooBusy, map[string]string{"Retry-After": "10"}
		t.Run(name, func(t *testing.T) { h.ask(t, r) })
	}
	others := large("T-2", 1<<19+1<<18)
	others.as = "other"
	h.ask(t, others)
	h.ask(t, order(`{"order_number":"T-3"}`, 201, ""))
	h.ask(t, row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, body: chunked(`{"order_number":"T-3"}`, 3), status: 201})
	h.ask(t, abstract(201, "", field("city", "Salem"), file("files", "a.pdf", strings.Repeat(pdf(1), 50_000)))) // a file takes none
	say(t, conn, body[len(body)-1:])
	h.hear(t, first, from)
	h.ask(t, large("T-4", 1<<19+1<<18)) // it is given back
	h.ask(t, abstract(422, "", field("custom_fields", strings.Repeat("x", 1<<20-100))))
	h.ask(t, large("T-5", 1<<19+1<<18))
}

// A key whose bodies stop in the middle holds no more than its half, however often it
// comes again: another key's request finds memory immediately.
func TestRoomOfOneKey(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name           string
		connections    int
		declared, sent int
		small, large   int64 // what they hold then, at least
		probe          int
	}{
		{"small bodies", 150, 64_000, 60_000, 4<<20 - 64_000, 0, 60_000},
		{"large bodies of which little came", 10, 8_300_000, 70_000, 0, 10 * 70_000, 200_000},
		{"large bodies", 10, 8_300_000, 8_000_000, 0, 9 << 20, 200_000},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			room := httpx.NewMemoryBudget(64<<20, time.Minute)
			h := open(t, func(s *setup) { s.api.Memory = room })
			stalled := order(strings.Repeat(" ", row.declared), 0, "")
			half := h.text(stalled)[:len(h.text(stalled))-row.declared+row.sent]
			probe := large("T-1", row.probe)
			probe.as = "other"
			for range 2 {
				var all sync.WaitGroup
				for range row.connections {
					conn := h.dial(t)
					defer conn.Close()
					all.Go(func() { _, _ = io.WriteString(conn, half) }) // those that wait take not all of it
				}
				fills(t, room, row.small, row.large)
				h.ask(t, probe)
				h.server.CloseClientConnections()
				all.Wait()
			}
		})
	}
}

// What decoding makes of bodies has its own part of the room: those of many members wait
// for it, of whatever media type they are, and get a 503. Ordinary ones don't.
func TestRoomForDecoding(t *testing.T) {
	t.Parallel()
	var room *httpx.MemoryBudget
	h := open(t, tight(10*time.Millisecond), func(s *setup) { room = s.api.Memory })
	release := acquireDecoded(t, room)
	members := `{"x":[` + strings.Repeat("0,", 1000) + "0]}"
	for name, r := range map[string]row{
		"JSON":   order(members, 422, ""),
		"pairs":  {as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: strings.Repeat("x=&", 1000), status: 201},
		"fields": abstract(201, "", field("custom_fields", members)),
		"patch":  {as: "full", method: "PATCH", path: "/v1/file-vault/folders/1", header: []string{asJSON}, body: members, status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			busy := r
			busy.status, busy.want, busy.headers = 503, tooBusy, map[string]string{"Retry-After": "10"}
			h.ask(t, busy)
			release()
			h.ask(t, r)
			release = acquireDecoded(t, room)
		})
	}
	h.ask(t, order(`{"order_number":"T-1","custom_fields":{"product":"Two Owner","rush":"Standard"}}`, 201, ""))
	h.ask(t, abstract(201, "", field("city", "Salem")))
	release()
}

// A body that holds memory may stall for less time than another.
func TestStallInMemory(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) { s.api.Limits.Stall, s.api.Limits.StallInMemory = time.Minute, 50*time.Millisecond })
	for name, r := range map[string]row{
		"JSON":    {path: "/v1/orders", header: []string{asJSON, "Content-Length: 9000"}, body: strings.Repeat(" ", 5000)},
		"chunked": {path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, body: "1388\r\n" + strings.Repeat(" ", 5000) + "\r\n"},
		"fields":  {path: "/v1/abstracts", header: []string{asForm, "Content-Length: 900000"}, body: strings.TrimSuffix(parts(field("custom_fields", strings.Repeat(" ", 80<<10))), "\r\n--XX--\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.as, r.method, r.status, r.want = "full", "POST", 408, tooSlow
			conn := h.dial(t)
			defer conn.Close()
			say(t, conn, h.text(r))
			h.hear(t, r, bufio.NewReader(conn))
		})
	}
}

// Large bodies that find no room wait for their turn.
func TestRoomIsWaitedFor(t *testing.T) {
	t.Parallel()
	h := open(t, tight(20*time.Second))
	conn, from, body := h.begin(t, large("T-1", 1<<20-100))
	defer conn.Close()
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() { h.ask(t, large(fmt.Sprintf("T-%d", i+2), 1<<19+1<<18)) })
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	h.hear(t, large("T-1", 0), from)
	wait.Wait()
	h.counts(t, 0, 7, 0)
}

// Who leaves while waiting takes nothing along, and a body that is cut gives back.
func TestRoomIsGivenBack(t *testing.T) {
	t.Parallel()
	h := open(t, tight(5*time.Second))
	for range 5 {
		conn, _, body := h.begin(t, large("T-1", 1<<20-100))
		if _, err := io.WriteString(conn, body[:1000]); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	h.ask(t, large("T-2", 1<<20-100))
	for range 10 { // more than the room for small ones
		h.ask(t, large("T-3", 60<<10))
		h.ask(t, abstract(201, "", field("custom_fields", strings.Repeat(" ", 60<<10))))
	}
}
