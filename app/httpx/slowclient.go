package httpx

import (
	"net/http"
	"time"
)

// SlowClientGuard sets the connection deadlines before next handles a request. Without a deadline, a body that next
// doesn't read would block net/http, which reads the rest of the body before it sends the response. Handlers that
// read the body through Body extend the deadline at each read. stall is the maximum time a read waits for a byte.
func SlowClientGuard(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An error means that deadlines aren't supported. In that case, there is no network connection that could
		// stall.
		control := http.NewResponseController(w)
		switch {
		case r.ContentLength == 0:
			_ = control.SetWriteDeadline(time.Now().Add(ResponseTimeout))
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			// Handlers don't read the body of this request, so the connection can't be reused.
			w.Header().Set("Connection", "close")
			_ = control.SetWriteDeadline(time.Now().Add(ResponseTimeout))
		default:
			_ = control.SetWriteDeadline(time.Time{})
			_ = control.SetReadDeadline(time.Now().Add(stall))
		}
		next.ServeHTTP(w, r)
	})
}
