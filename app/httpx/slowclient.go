package httpx

import (
	"errors"
	"io"
	"math"
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

const (
	sendGrace   = time.Minute // added to each write deadline
	minSendRate = 1 << 10     // min bytes per second, even if the configured rate is lower
	copySize    = 256 << 10   // max bytes that ReadFrom sends with one write deadline
)

// DeadlineWriter sends a response of any size. Each write has its own deadline, according to the minimum rate. So a
// client that stops reading is disconnected soon, and one that reads slowly but steadily never is.
type DeadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	minRate int64
}

// NewDeadlineWriter returns a DeadlineWriter for w. minRate is in bytes per second.
func NewDeadlineWriter(w http.ResponseWriter, minRate int64) *DeadlineWriter {
	return &DeadlineWriter{w, http.NewResponseController(w), max(minRate, minSendRate)}
}

func (d *DeadlineWriter) extend(size int64) {
	// An error means that deadlines aren't supported. In that case, there is no network connection that could stall.
	_ = d.control.SetWriteDeadline(time.Now().Add(sendGrace + time.Duration(size/d.minRate)*time.Second))
}

func (d *DeadlineWriter) Write(b []byte) (int, error) {
	d.extend(int64(len(b)))
	return d.ResponseWriter.Write(b)
}

// ReadFrom lets net/http copy a file to the connection without a buffer.
func (d *DeadlineWriter) ReadFrom(r io.Reader) (n int64, err error) {
	left := int64(math.MaxInt64)
	if limited, ok := r.(*io.LimitedReader); ok {
		r, left = limited.R, limited.N // net/http recognizes a file in one LimitedReader only
	}
	for left > 0 {
		d.extend(copySize)
		part, err := io.CopyN(d.ResponseWriter, r, min(left, copySize))
		n, left = n+part, left-part
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Unwrap returns the underlying writer for http.ResponseController.
func (d *DeadlineWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }
