package httpx

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// SlowClientGuard sets a read deadline before next handles a request with a body. Without a deadline, a body that next
// doesn't read would block net/http, which reads the rest of the body before it sends the response. Handlers that
// read the body through Body extend the deadline at each read. stall is the maximum time a read waits for a byte.
//
// Responses have no deadline. The listener disconnects clients that receive them too slowly.
func SlowClientGuard(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ContentLength == 0:
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			// Handlers don't read the body of this request, so the connection can't be reused.
			w.Header().Set("Connection", "close")
		default:
			// An error means that deadlines aren't supported. In that case, there is no network connection that could
			// stall.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(stall))
		}
		next.ServeHTTP(w, r)
	})
}

// ResponseMemory counts the memory of responses that are being sent. A response that is already in memory counts until
// the client, or the system, has accepted it. Files that are sent without a copy in memory don't count.
type ResponseMemory struct {
	Max  int64  // bytes
	Full func() // called for each response that exceeds Max

	held atomic.Int64
}

// Limit returns a handler that counts the responses of next.
func (m *ResponseMemory) Limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&countedWriter{w, m}, r)
	})
}

type countedWriter struct {
	http.ResponseWriter
	memory *ResponseMemory
}

func (w *countedWriter) Write(p []byte) (int, error) {
	size := int64(len(p))
	if size > FreeBodyBytes {
		if w.memory.held.Add(size) > w.memory.Max {
			w.memory.Full()
		}
		defer w.memory.held.Add(-size)
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom lets net/http copy a file to the connection without a buffer.
func (w *countedWriter) ReadFrom(r io.Reader) (int64, error) { return io.Copy(w.ResponseWriter, r) }

// Unwrap returns the underlying writer for http.ResponseController.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
