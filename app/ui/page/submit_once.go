package page

import (
	"context"
	"crypto/sha256"
	"net/http"
)

// AlreadySubmitted is what the page says of a form that was sent before: what it led to was
// shown then, and is shown no more.
type AlreadySubmitted struct{ Text, Path, Link string }

// SubmitOnce does what a form asks for whose answer shows a secret: a page that is loaded
// anew sends its form again, which must not make a second one. The form has a token in
// its field `once`; act gives where to look at what it made, "" for nothing. A form
// without a token is done each time.
func (p *Site) SubmitOnce(w http.ResponseWriter, r *http.Request, who Visitor, done AlreadySubmitted, act func() (made string, err error)) error {
	token := r.PostForm.Get("once")
	if token == "" {
		_, err := act()
		return err
	}
	// Without what else was filled in: there may be a password in it.
	slot := sha256.Sum256([]byte("page once\n" + who.Record() + "\n" + r.URL.Path + "\n" + token))
	ended := make(chan struct{})
	first, busy := p.inFlight.LoadOrStore(slot, ended)
	if busy { // a second click: what the first one led to is known when it has ended
		select {
		case <-first.(chan struct{}):
		case <-r.Context().Done():
			return r.Context().Err()
		}
	} else {
		defer func() {
			p.inFlight.Delete(slot)
			close(ended)
		}()
	}
	replay, found, err := p.Vault.Replay(r.Context(), slot)
	if err != nil {
		return err
	}
	if found {
		done.Path = LocalAddress(replay.Header["Location"])
	}
	if found || busy {
		return p.showAlreadySubmitted(w, r, who, done)
	}
	made, err := act()
	if err != nil || made == "" {
		return err
	}
	// The answer has gone out: it is not taken back because this was not kept.
	if err := p.Vault.Remember(context.WithoutCancel(r.Context()), slot, made); err != nil {
		p.Log.ErrorContext(r.Context(), "remember a form", "error", err, "request_id", RequestID(w))
	}
	return nil
}

func (p *Site) showAlreadySubmitted(w http.ResponseWriter, r *http.Request, who Visitor, done AlreadySubmitted) error {
	return p.RenderPage(w, r, who, http.StatusConflict, "once.html", Page{Heading: "This was done already", Section: "admin", Data: done})
}
