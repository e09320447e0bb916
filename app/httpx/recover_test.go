package httpx

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// If a handler panics, the panic is logged and the connection is closed without a response.
func TestPanicIsLogged(t *testing.T) {
	for name, cause := range map[string]any{"error": errors.New("broken"), "string": "broken"} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			server := httptest.NewServer(CloseOnPanic(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(cause) }),
				slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))))
			resp, err := http.Get(server.URL)
			if err == nil {
				_ = resp.Body.Close() // the test has already failed
				t.Errorf("got response %s, want a closed connection", resp.Status)
			} else if !errors.Is(err, io.EOF) {
				t.Errorf("got error %v, want io.EOF", err)
			}
			server.Close()
			for _, want := range []string{"level=ERROR", "panic: broken", "recover_test.go"} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("log has no %q: %q", want, &log)
				}
			}
		})
	}
}
