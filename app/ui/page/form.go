package page

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"deedkeep/app/errs"
)

// formTimeout is how long a form may take to arrive after its header; larger forms get more time by
// minFormRate.
const (
	formTimeout = 5 * time.Second
	minFormRate = 64 << 10 // bytes per second
	// responseTimeout is how long it may take to build and send a page.
	responseTimeout = 2 * time.Minute
)

// readRouteForm reads a form for a page with that access level. Large forms reserve memory of their
// sender until done is called. Senders without a session or a role may send small forms only.
func (p *Site) readRouteForm(w http.ResponseWriter, r *http.Request, visitor Visitor, of access) (done func(), err error) {
	if of == Anyone || of == SignedIn {
		return func() {}, ReadForm(w, r, MaxFormBytes)
	}
	return p.readCountedForm(w, r, visitor.Record(), p.FormBytes)
}

// readCountedForm reads a form of at most max bytes and charges its memory to owner until done is
// called.
func (p *Site) readCountedForm(w http.ResponseWriter, r *http.Request, owner string, maxBytes int64) (done func(), err error) {
	length := r.ContentLength
	if length < 0 || length > maxBytes {
		length = maxBytes
	}
	end := formDeadline(r, maxBytes)
	r.Body, done = p.LimitBody(r.Context(), owner, r.Body, length, func(waited time.Duration) {
		end = end.Add(waited)
		_ = http.NewResponseController(w).SetReadDeadline(end) // as in readForm
	})
	if err := ReadForm(w, r, maxBytes); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// formDeadline returns the time by which the form must have arrived.
func formDeadline(r *http.Request, maxBytes int64) time.Time {
	return time.Now().Add(formTimeout + time.Duration(min(max(r.ContentLength, 0), maxBytes)/minFormRate)*time.Second)
}

// ReadForm reads a form of at most max bytes into r.PostForm.
func ReadForm(w http.ResponseWriter, r *http.Request, maxBytes int64) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		SkipForm(w, r)
		return NewHTTPError(http.StatusUnsupportedMediaType, "This cannot be read",
			"This is no form of a page. Open the page anew and fill in the form there.")
	}
	control := http.NewResponseController(w)
	// Connections without deadlines are not network connections and can't stall.
	_ = control.SetReadDeadline(formDeadline(r, maxBytes))
	r.Body = http.MaxBytesReader(w, r.Body, maxBytes)
	if err := r.ParseForm(); err != nil {
		SkipForm(w, r)
		if errs.KindOf(err) == errs.Unavailable {
			return err
		}
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return NewHTTPError(http.StatusRequestEntityTooLarge, "This cannot be read",
				fmt.Sprintf("The form holds more than %s. Go back and shorten it.", FormatSize(tooLarge.Limit)))
		}
		return NewHTTPError(http.StatusBadRequest, "This cannot be read", "The form did not arrive whole. Go back and send it again.")
	}
	// The server keeps reading from the connection to notice when the client disconnects.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Now().Add(responseTimeout))
	return nil
}

// SkipForm prepares a response that doesn't wait for the form. After the response, net/http reads
// what arrives within a second, so that the client gets to read the response.
func SkipForm(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return
	}
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // as in readForm
}

// MaxFormBytes is the maximum size of small forms.
const MaxFormBytes = 16 << 10
