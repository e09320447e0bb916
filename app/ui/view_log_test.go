package ui_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// If a response to a signed link contains the start of the document, a view is logged.
func TestViewsAreLogged(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	content := append(vaulttest.PDF(1, "views"), bytes.Repeat([]byte("0123456789"), 100)...)
	file := h.upload(t, "a.pdf", content)
	tag := `"` + file.Digest + `"`
	link := h.signedLink(file)
	var want []string
	for i, c := range []struct {
		name   string
		method string
		header []string
		status int
		logged bool
	}{
		{"complete", "GET", nil, 200, true},
		{"HEAD", "HEAD", nil, 200, false},
		{"from the first byte", "GET", []string{"Range: bytes=0-"}, 206, true},
		{"first bytes", "GET", []string{"Range: bytes=0-9"}, 206, true},
		{"later range without a first one", "GET", []string{"Range: bytes=1-"}, 206, true},
		{"two ranges", "GET", []string{"Range: bytes=0-1,-1"}, 206, true},
		{"range of another version", "GET", []string{"Range: bytes=7-", `If-Range: "x"`}, 200, true},
		{"after the end", "GET", []string{"Range: bytes=99999-"}, 416, false},
		{"unchanged", "GET", []string{"If-None-Match: " + tag}, 304, false},
		{"If-None-Match of another file", "GET", []string{`If-None-Match: "x"`}, 200, true},
		{"If-Match of another file", "GET", []string{`If-Match: "x"`}, 412, false},
		{"If-Match", "GET", []string{"If-Match: " + tag}, 200, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := fmt.Sprint(i + 1)
			h.request(t, c.status, c.method, link, append(c.header, "From: "+from)...)
			if c.logged {
				want = append(want, "link 192.0.2."+from)
			}
		})
	}
	h.request(t, 206, "GET", link, "Range: bytes=100-", "From: 1") // continues the same view
	h.request(t, 200, "GET", link, "From: 1")                      // the same view again within a minute
	h.requestErrorPage(t, 403, "GET", link+"?")
	if got := h.viewEvents(t); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// viewEvents returns the views recorded in the audit log.
func (ts *testServer) viewEvents(t *testing.T) (views []string) {
	t.Helper()
	err := ts.vault.Events.Each(t.Context(), 1, func(e model.Event, err error) error {
		if e.Kind == "file.opened" {
			views = append(views, e.Actor.Record()+" "+e.Actor.Address)
			if e.Record != "file:1" || len(e.Detail) > 0 {
				t.Errorf("event = %+v, want the record file:1 and no detail", e)
			}
		}
		return err
	})
	if err != nil {
		t.Fatalf("Events.Each: %v", err)
	}
	return views
}

// A view is logged before the first byte is sent, for all types of requests. A crash can't lose a
// view.
func TestViewIsLoggedBeforeFirstByte(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	file := h.upload(t, "a.pdf", append(vaulttest.PDF(1, "long"), bytes.Repeat([]byte("0123456789"), 1<<20)...))
	for i, header := range []string{"Accept: */*", "Range: bytes=0-", "Range: bytes=5-"} {
		conn := h.dial(t)
		_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: vault.test\r\nFrom: %d\r\n%s\r\n\r\n", h.signedLink(file), i, header)
		if err != nil {
			t.Fatalf("write request: %v", err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil { // the response is still being sent
			t.Fatalf("read response: %v", err)
		}
		if got := h.viewEvents(t); len(got) != i+1 {
			t.Errorf("views after a request with %s = %q, want %d", header, got, i+1)
		}
		if err := conn.Close(); err != nil {
			t.Fatalf("close connection: %v", err)
		}
	}
}
