package httpx

import (
	"net/http"
	"time"
)

// SlowClientGuard sets the connection deadlines of a request before next handles it. A body that next never reads
// would otherwise block net/http, which reads the rest of it before it sends the response. Handlers that read the
// body through Body extend the deadline with every read. stall is how long a read may wait for a byte.
func SlowClientGuard(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Errors mean that deadlines aren't supported: then there is no network connection that could stall.
		control := http.NewResponseController(w)
		switch {
		case r.ContentLength == 0:
			_ = control.SetWriteDeadline(time.Now().Add(ResponseTimeout))
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			// No handler reads this body, so the connection can't be reused.
			w.Header().Set("Connection", "close")
			_ = control.SetWriteDeadline(time.Now().Add(ResponseTimeout))
		default:
			_ = control.SetWriteDeadline(time.Time{})
			_ = control.SetReadDeadline(time.Now().Add(stall))
		}
		next.ServeHTTP(w, r)
	})
}
