package page

import (
	"context"
	"crypto/sha256"
	"net/http"
)

// AlreadySubmitted is what the page says if a form whose result is shown only once was submitted
// before.
type AlreadySubmitted struct{ Text, Path, Link string }

// SubmitOnce runs act for a form whose response shows a secret. Reloading that page submits the
// form again, which must not create a second secret. The form's field "once" holds a token. act
// returns the address of what it created, "" for nothing. Without a token, act runs each time.
func (p *Site) SubmitOnce(w http.ResponseWriter, r *http.Request, visitor Visitor, done AlreadySubmitted, act func() (address string, err error)) error {
	token := r.PostForm.Get("once")
	if token == "" {
		_, err := act()
		return err
	}
	// Only the token: the other fields may contain a password.
	key := sha256.Sum256([]byte("page once\n" + visitor.Record() + "\n" + r.URL.Path + "\n" + token))
	ended := make(chan struct{})
	first, waiting := p.inFlight.LoadOrStore(key, ended)
	if waiting { // a double click: wait for the first request
		select {
		case <-first.(chan struct{}):
		case <-r.Context().Done():
			return r.Context().Err()
		}
	} else {
		defer func() {
			p.inFlight.Delete(key)
			close(ended)
		}()
	}
	stored, found, err := p.Vault.StoredResponse(r.Context(), key)
	if err != nil {
		return err
	}
	if found {
		done.Path = LocalAddress(stored.Header["Location"])
	}
	if found || waiting {
		return p.showAlreadySubmitted(w, r, visitor, done)
	}
	address, err := act()
	if err != nil || address == "" {
		return err
	}
	// The response is sent already: a failure to remember the form must not undo it.
	if err := p.Vault.StoreLocation(context.WithoutCancel(r.Context()), key, address); err != nil {
		p.Log.ErrorContext(r.Context(), "remember a form", "error", err, "request_id", RequestID(w))
	}
	return nil
}

func (p *Site) showAlreadySubmitted(w http.ResponseWriter, r *http.Request, visitor Visitor, done AlreadySubmitted) error {
	return p.RenderPage(w, r, visitor, http.StatusConflict, "once.html", Page{Heading: "This was done already", Section: "admin", Data: done})
}
