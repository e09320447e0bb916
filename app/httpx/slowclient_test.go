package httpx_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deedkeep/app/httpx"
)

// blockedWriter is a response to a client that reads it when read is closed.
type blockedWriter struct {
	http.ResponseWriter
	begun, read chan struct{}
}

func (w blockedWriter) Write(p []byte) (int, error) {
	w.begun <- struct{}{}
	<-w.read
	return len(p), nil
}

// All responses in memory count until the client has read them, whatever their size.
func TestResponseMemory(t *testing.T) {
	t.Parallel()
	const size, maxResponses = 16 << 10, 4
	full := make(chan struct{}, 100)
	memory := &httpx.ResponseMemory{Max: size * maxResponses, Full: func() { full <- struct{}{} }}
	handler := memory.Limit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", size)) // the client always reads
	}))
	clients := blockedWriter{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	done := make(chan struct{})
	for n := 1; n <= maxResponses+2; n++ {
		go func() {
			handler.ServeHTTP(clients, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
			done <- struct{}{}
		}()
		<-clients.begun
		if want := max(0, n-maxResponses); len(full) != want {
			t.Fatalf("after %d responses of %d KB: got %d calls of Full, want %d", n, size>>10, len(full), want)
		}
	}
	close(clients.read)
	for range maxResponses + 2 {
		<-done
	}
	go handler.ServeHTTP(clients, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	<-clients.begun
	if len(full) != 2 {
		t.Errorf("after all clients have read their responses: got %d calls of Full, want 2", len(full))
	}
}
