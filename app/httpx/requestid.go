package httpx

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/secret"
)

// RequestIDHeader is the name of the request ID header in requests and responses.
const RequestIDHeader = "X-Request-Id"

const maxRequestID = 128 // characters

// clientRequestID is the context key of the request ID that the client sent.
type clientRequestID struct{}

// WithRequestID replaces RequestIDHeader of every request with a new ID from rand, and sets it on the context. The log
// and the audit log have that ID, so that clients can't choose it. If the client sent a valid ID, the response keeps
// it, and LogHandler logs it beside the server's own. It doesn't wrap the response writer.
func WithRequestID(next http.Handler, rand io.Reader) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Values(RequestIDHeader)
		id, err := secret.NewToken(rand)
		if err != nil {
			id = "none"
		}
		id = id[:min(len(id), 20)]
		ctx := model.WithRequestID(r.Context(), id)
		w.Header().Set(RequestIDHeader, id)
		if len(sent) == 1 && isRequestID(sent[0]) {
			w.Header().Set(RequestIDHeader, sent[0])
			ctx = context.WithValue(ctx, clientRequestID{}, sent[0])
		}
		r.Header.Set(RequestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func isRequestID(id string) bool {
	return id != "" && len(id) <= maxRequestID && strings.Trim(id, hostChars) == ""
}

// LogHandler returns a handler that adds the attribute client_request_id to the log lines of requests with an ID of the
// client.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

func (l logHandler) Handle(ctx context.Context, line slog.Record) error {
	if id, ok := ctx.Value(clientRequestID{}).(string); ok {
		line.AddAttrs(slog.String("client_request_id", id))
	}
	return l.Handler.Handle(ctx, line)
}

func (l logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{l.Handler.WithAttrs(attrs)}
}

func (l logHandler) WithGroup(name string) slog.Handler { return logHandler{l.Handler.WithGroup(name)} }
