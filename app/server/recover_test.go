package server

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

// A panic is logged, and the client sees only a closed connection.
func TestPanicIsLogged(t *testing.T) {
	for name, cause := range map[string]any{"an error": errors.New("broken"), "a word": "broken"} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			server := httptest.NewServer(recoverer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(cause) }),
				slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))))
			answer, err := http.Get(server.URL)
			if err == nil {
				_ = answer.Body.Close() // The failure is that there is one.
				t.Errorf("it answered %s", answer.Status)
			} else if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			server.Close()
			if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "cause=broken") || !strings.Contains(log.String(), "recover_test.go") {
				t.Errorf("logged %q", &log)
			}
		})
	}
}
