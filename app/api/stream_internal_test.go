package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

// gone is a connection that the client closed.
type gone struct{ http.ResponseWriter }

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A file that is cut off ends with an aborted connection. It is an error in the log unless the
// client is gone.
func TestStreamCutOff(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	damaged := errors.New("damaged row")
	failing := func(io.Writer) error { return damaged }
	sending := func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }
	for _, row := range []struct {
		name   string
		to     http.ResponseWriter
		ctx    context.Context
		stream func(io.Writer) error
		logged bool
	}{
		{"a damaged row", httptest.NewRecorder(), t.Context(), failing, true},
		{"a client that hung up", gone{httptest.NewRecorder()}, t.Context(), sending, false},
		{"a canceled request", httptest.NewRecorder(), canceled, failing, false},
	} {
		var log bytes.Buffer
		s := &server{Options: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		c, _ := gin.CreateTestContext(row.to)
		c.Request = httptest.NewRequestWithContext(row.ctx, http.MethodGet, "/", nil)
		func() {
			defer func() {
				if r := recover(); r != http.ErrAbortHandler { //nolint:errorlint // a panic's value
					t.Errorf("%s: panic %v, want %v", row.name, r, http.ErrAbortHandler)
				}
			}()
			s.respond(c, &response{status: http.StatusOK, media: "text/csv", stream: row.stream})
		}()
		if logged := log.Len() > 0; logged != row.logged {
			t.Errorf("%s: logged %q, want an entry: %t", row.name, log.String(), row.logged)
		}
	}
}
