package httpx

import (
	"io"
	"net/http"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// RequestIDHeader is the name of the request ID header in requests and responses.
const RequestIDHeader = "X-Request-Id"

const maxRequestID = 128 // characters

// WithRequestID sets RequestIDHeader on every request and response and on the context. It keeps the client's ID if it is valid, and
// otherwise generates one using rand. It doesn't wrap the response writer.
func WithRequestID(next http.Handler, rand io.Reader) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.Header.Values(RequestIDHeader)
		if len(values) != 1 || values[0] == "" || len(values[0]) > maxRequestID || strings.Trim(values[0], hostChars) != "" {
			id, err := secret.NewToken(rand)
			if err != nil {
				id = "none"
			}
			r.Header.Set(RequestIDHeader, id[:min(len(id), 20)])
		}
		id := r.Header.Get(RequestIDHeader)
		w.Header().Set(RequestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(model.WithRequestID(r.Context(), id)))
	})
}
