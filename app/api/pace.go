package api

import (
	"net/http"
	"time"

	"deedkeep/app/httpx"
)

func newPacedBody(w http.ResponseWriter, r *http.Request, limits Limits) *httpx.Body {
	return httpx.New(w, r, httpx.Limits{Stall: limits.Stall, MinRate: limits.MinRate})
}

// Patient gives a body that its handler leaves alone an end: net/http reads the
// rest before it answers, and would wait for ever. A handler that reads moves the
// deadline on.
func Patient(next http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		// As above, for both.
		switch {
		case r.ContentLength == 0:
			_ = control.SetWriteDeadline(time.Now().Add(httpx.Answering))
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			// Nothing reads it, and net/http would before it answers.
			w.Header().Set("Connection", "close")
			_ = control.SetWriteDeadline(time.Now().Add(httpx.Answering))
		default:
			_ = control.SetWriteDeadline(time.Time{})
			_ = control.SetReadDeadline(time.Now().Add(stall))
		}
		next.ServeHTTP(w, r)
	})
}

// Of a known caller's body more is read than of anybody's.
const (
	callersBytes  = 64 << 20
	callersTime   = 10 * time.Second
	anybodysBytes = 1 << 20
	anybodysTime  = time.Second
)
