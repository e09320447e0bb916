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

	"deedkeep/app/api"
	"deedkeep/app/title"
)

// tight leaves room for one large body at a time.
func tight(wait time.Duration) func(*setup) {
	return func(s *setup) {
		s.api.Limits.JSON, s.api.Limits.FormFields, s.api.Room = 1<<20, 1<<20, api.NewRoom(2<<20, wait)
	}
}

const tooBusy = `{"message":"Too many large requests at once; try again in a moment."}`

// large is an order of so many bytes, most of them blanks.
func large(number string, size int) row {
	return order(fmt.Sprintf(`{"order_number":%q%s}`, number, strings.Repeat(" ", size)), 201, "")
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

// While one large body holds the room, another is told to come back, whatever it is
// made of; small ones go on.
func TestRoomForBodies(t *testing.T) {
	t.Parallel()
	h := open(t, tight(10*time.Millisecond))
	first := large("T-1", 1<<19)
	first.body += strings.Repeat(" ", 1<<20-len(first.body))
	conn, from, body := h.begin(t, first)
	defer conn.Close()
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
	h.ask(t, order(`{"order_number":"T-3"}`, 201, ""))
	h.ask(t, row{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON, "Transfer-Encoding: chunked"}, body: chunked(`{"order_number":"T-3"}`, 3), status: 201})
	h.ask(t, abstract(201, "", field("city", "Salem"), file("files", "a.pdf", strings.Repeat(pdf(1), 50_000)))) // a file takes none
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	h.hear(t, first, from)
	h.ask(t, large("T-4", 1<<19+1<<18)) // it is given back
	h.ask(t, abstract(422, "", field("custom_fields", strings.Repeat("x", 1<<20-100))))
	h.ask(t, large("T-5", 1<<19+1<<18))
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

// What is not of /v1 takes from the same room.
func TestRoomIsTakenByOthers(t *testing.T) {
	t.Parallel()
	room := api.NewRoom(2<<20, 10*time.Millisecond)
	release, err := room.Take(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := room.Take(t.Context(), 1<<20); title.KindOf(err) != title.Closing {
		t.Errorf("with the room taken: %v", err)
	}
	release()
	if release, err = room.Take(t.Context(), 1<<20); err != nil {
		t.Fatalf("with the room released: %v", err)
	}
	release()
	if release, err = (*api.Room)(nil).Take(t.Context(), 1<<40); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	release()
}
