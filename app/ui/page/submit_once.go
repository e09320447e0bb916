package page

import (
	"context"
	"crypto/sha256"
	"net/http"
)

// AlreadySubmitted is the text and link of the page shown when a form is submitted twice, but its
// result can be shown only once.
type AlreadySubmitted struct{ Text, Path, Link string }

// SubmitOnce runs act for a form whose response shows a secret. Reloading that response submits the
// form again, which must not create a second secret. The form field "once" contains a token that
// identifies the form; without a token, act always runs. act returns the address of the created
// record, or "" if nothing was created.
func (si *Site) SubmitOnce(r *Request, done AlreadySubmitted, act func() (address string, err error)) error {
	token := r.PostForm.Get("once")
	if token == "" {
		_, err := act()
		return err
	}
	// The key contains only the token because the other fields may contain a password.
	key := sha256.Sum256([]byte("page once\n" + r.Record() + "\n" + r.URL.Path + "\n" + token))
	ended := make(chan struct{})
	first, waiting := si.inFlight.LoadOrStore(key, ended)
	if waiting { // after a double-click, wait for the first request
		select {
		case <-first.(chan struct{}):
		case <-r.Context().Done():
			return r.Context().Err()
		}
	} else {
		defer func() {
			si.inFlight.Delete(key)
			close(ended)
		}()
	}
	stored, found, err := si.Vault.StoredResponse(r.Context(), key)
	if err != nil {
		return err
	}
	if found {
		done.Path = LocalAddress(stored.Header["Location"])
	}
	if found || waiting {
		return si.showAlreadySubmitted(r, done)
	}
	address, err := act()
	if err != nil || address == "" {
		return err
	}
	// The response has been sent. If this fails, the form's changes are kept.
	if err := si.Vault.StoreLocation(context.WithoutCancel(r.Context()), key, address); err != nil {
		si.Log.ErrorContext(r.Context(), "form submission not recorded", "error", err, "request_id", r.RequestID())
	}
	return nil
}

func (si *Site) showAlreadySubmitted(r *Request, done AlreadySubmitted) error {
	return si.RenderPage(r, http.StatusConflict, "already-sent.html", Page{Heading: "Already submitted", Section: "admin", Data: done})
}
