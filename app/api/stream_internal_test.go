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
	"time"

	"github.com/gin-gonic/gin"
)

// gone is a connection that the client closed.
type gone struct{ http.ResponseWriter }

func (gone) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// deadlines records the write deadline of each write.
type deadlines struct {
	*httptest.ResponseRecorder
	next   time.Time
	writes []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.next = at
	return nil
}

func (d *deadlines) Write(b []byte) (int, error) {
	d.writes = append(d.writes, d.next)
	d.next = time.Time{}
	return d.ResponseRecorder.Write(b)
}

// Each part of a file has its own deadline, so that a client that stops reading is disconnected, and
// one that reads a large file slowly is not.
func TestStreamDeadline(t *testing.T) {
	t.Parallel()
	to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	c, _ := gin.CreateTestContext(to)
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	(&server{}).respond(c, response{status: http.StatusOK, media: "application/pdf", stream: func(w io.Writer) error {
		_, err := io.Copy(w, struct{ io.Reader }{bytes.NewReader(make([]byte, 200<<10))})
		return err
	}})
	if len(to.writes) < 3 {
		t.Errorf("%d writes, want at least 3", len(to.writes))
	}
	for n, deadline := range to.writes {
		if left := time.Until(deadline); left <= 0 || left > 2*time.Minute {
			t.Errorf("deadline of write %d is in %s, want it within 2 minutes", n, left)
		}
	}
}

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
			s.respond(c, response{status: http.StatusOK, media: "text/csv", stream: row.stream})
		}()
		if logged := log.Len() > 0; logged != row.logged {
			t.Errorf("%s: logged %q, want an entry: %t", row.name, log.String(), row.logged)
		}
	}
}
