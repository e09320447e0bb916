package ui

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"deedkeep/app/errs"
)

// formTime is how long a form may take to arrive once its head is there, and more
// by formRate for a large one.
const (
	formTime = 5 * time.Second
	formRate = 64 << 10 // bytes a second
	// answerTime is how long a page may take to make and to be taken.
	answerTime = 2 * time.Minute
)

// form reads a form for a page of that need. A large one takes memory, as it arrives, of
// what its sender may have, until done is called. Senders who
// have not signed in, or have no role yet, have little to fill in.
func (p *pages) form(w http.ResponseWriter, r *http.Request, who visitor, of need) (done func(), err error) {
	if of == anyone || of == signedIn {
		return func() {}, readForm(w, r, mostForm)
	}
	return p.countedForm(w, r, who.Record(), p.FormBytes)
}

// countedForm reads a form of at most that many bytes in the memory of its owner.
func (p *pages) countedForm(w http.ResponseWriter, r *http.Request, owner string, most int64) (done func(), err error) {
	length := r.ContentLength
	if length < 0 || length > most {
		length = most
	}
	end := formEnd(r, most)
	r.Body, done = p.Room(r.Context(), owner, r.Body, length, func(waited time.Duration) {
		end = end.Add(waited)
		_ = http.NewResponseController(w).SetReadDeadline(end) // as in readForm
	})
	if err := readForm(w, r, most); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// formEnd is when a form must be there.
func formEnd(r *http.Request, most int64) time.Time {
	return time.Now().Add(formTime + time.Duration(min(max(r.ContentLength, 0), most)/formRate)*time.Second)
}

// readForm reads a form of at most that many bytes into r.PostForm.
func readForm(w http.ResponseWriter, r *http.Request, most int64) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		leaveForm(w, r)
		return &formError{http.StatusUnsupportedMediaType, "This cannot be read", "This is no form of a page. Open the page anew and fill in the form there."}
	}
	control := http.NewResponseController(w)
	// Where deadlines are not supported there is no network that could stall.
	_ = control.SetReadDeadline(formEnd(r, most))
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil {
		leaveForm(w, r)
		if errs.KindOf(err) == errs.Unavailable {
			return err
		}
		if long, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &formError{http.StatusRequestEntityTooLarge, "This cannot be read", fmt.Sprintf("The form holds more than %s. Go back and shorten it.", size(long.Limit))}
		}
		return &formError{http.StatusBadRequest, "This cannot be read", "The form did not arrive whole. Go back and send it again."}
	}
	// The server goes on reading the connection, to learn when the client leaves.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Now().Add(answerTime))
	return nil
}

// leaveForm answers without the form: nobody waits for it, and net/http reads what it
// can of it in a second after the answer, so that whoever sends it gets to read that.
func leaveForm(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return
	}
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // as in readForm
}
