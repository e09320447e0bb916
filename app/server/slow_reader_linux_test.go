package server

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The server doesn't create more responses while the client hasn't received the previous ones, although the buffers of
// the system have space for all of them.
func TestPipelinedRequestsWait(t *testing.T) {
	const size, requests, ahead = 8 << 10, 40, 6
	var responses atomic.Int32
	_, dial := serveSlow(t, size*requests, func(w http.ResponseWriter, _ *http.Request) {
		responses.Add(1)
		_, _ = w.Write(make([]byte, size))
	}, 100, 1, time.Minute)
	conn := dial()
	if _, err := io.WriteString(conn, strings.Repeat(shortRequest, requests)); err != nil {
		t.Fatalf("write requests: %v", err)
	}
	from := bufio.NewReader(conn)
	for read := int32(1); read <= requests; read++ {
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatalf("read response %d: %v", read, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatalf("read response %d: %v", read, err)
		}
		if created := responses.Load(); created > read+ahead {
			t.Fatalf("created %d responses when the client has read %d, want at most %d", created, read, read+ahead)
		}
	}
}
