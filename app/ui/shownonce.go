package ui

import (
	"context"
	"crypto/sha256"
	"net/http"
)

// onceDone is what the page says of a form that was sent before: what it led to was
// shown then, and is shown no more.
type onceDone struct{ Text, Path, Link string }

// once does what a form asks for whose answer shows a secret: a page that is loaded
// anew sends its form again, which must not make a second one. The form has a token in
// its field `once`; act gives where to look at what it made, "" for nothing. A form
// without a token is done each time.
func (p *pages) once(w http.ResponseWriter, r *http.Request, who visitor, done onceDone, act func() (made string, err error)) error {
	token := r.PostForm.Get("once")
	if token == "" {
		_, err := act()
		return err
	}
	// Without what else was filled in: there may be a password in it.
	slot := sha256.Sum256([]byte("page once\n" + who.Record() + "\n" + r.URL.Path + "\n" + token))
	ended := make(chan struct{})
	first, busy := p.sending.LoadOrStore(slot, ended)
	if busy { // a second click: what the first one led to is known when it has ended
		select {
		case <-first.(chan struct{}):
		case <-r.Context().Done():
			return r.Context().Err()
		}
	} else {
		defer func() {
			p.sending.Delete(slot)
			close(ended)
		}()
	}
	replay, found, err := p.Vault.Replay(r.Context(), slot)
	if err != nil {
		return err
	}
	if found {
		done.Path = local(replay.Header["Location"])
	}
	if found || busy {
		return p.sentBefore(w, r, who, done)
	}
	made, err := act()
	if err != nil || made == "" {
		return err
	}
	// The answer has gone out: it is not taken back because this was not kept.
	if err := p.Vault.Remember(context.WithoutCancel(r.Context()), slot, made); err != nil {
		p.Log.ErrorContext(r.Context(), "remember a form", "error", err, "request_id", requestID(w))
	}
	return nil
}

func (p *pages) sentBefore(w http.ResponseWriter, r *http.Request, who visitor, done onceDone) error {
	return p.show(w, r, who, http.StatusConflict, "once.html", page{Heading: "This was done already", Section: "admin", Data: done})
}
