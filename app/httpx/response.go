package httpx

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"deedkeep/app/apitypes"
)

// DataPolicy is the Content-Security-Policy of all responses other than pages. If a browser
// displays such a response anyway, the response can't run scripts or load anything (OWASP, "REST
// Security Cheat Sheet", security headers).
const DataPolicy = "default-src 'none'; frame-ancestors 'none'"

// permissionsPolicy denies the pages of this server, and frames in them, what they don't use.
const permissionsPolicy = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"

// CrossOriginHeader is the name of the header that says which sites may embed a response (Fetch
// Standard, "Cross-Origin-Resource-Policy").
const CrossOriginHeader = "Cross-Origin-Resource-Policy"

// SetIsolationHeaders sets the headers that all pages and data have: other sites can't embed them,
// and they can't use the visitor's devices.
func SetIsolationHeaders(h http.Header) {
	h.Set("Permissions-Policy", permissionsPolicy)
	h.Set(CrossOriginHeader, "same-origin")
}

// SetJSONHeaders sets the headers that all JSON responses have.
func SetJSONHeaders(h http.Header) {
	h.Set(CrossOriginHeader, "same-origin")
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", DataPolicy)
}

// WriteJSON sends a small JSON response.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	SetJSONHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if status >= http.StatusBadRequest {
		w.Header().Set(apitypes.ErrorCode, ErrorCode(status))
	}
	w.WriteHeader(status)
	_ = apitypes.Write(w, body) // an error means that the client is gone
}

// RecoverPanic calls fail with an error for a panic of the function that defers RecoverPanic. The
// error contains the stack. A panic with http.ErrAbortHandler continues.
func RecoverPanic(fail func(error)) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

// CloseOnPanic logs panics of a handler and closes the connection. It doesn't send an error
// response, because it can't know whether a response has already started. It doesn't wrap the
// ResponseWriter.
func CloseOnPanic(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer RecoverPanic(func(err error) {
			log.ErrorContext(r.Context(), "panic", "error", err, "request_id", r.Header.Get(RequestIDHeader))
			panic(http.ErrAbortHandler)
		})
		next.ServeHTTP(w, r)
	})
}
