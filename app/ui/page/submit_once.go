package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
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
	stored, found, err := si.App.StoredResponse(r.Context(), key)
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
	if err := si.App.StoreLocation(context.WithoutCancel(r.Context()), key, address); err != nil {
		si.Log.ErrorContext(r.Context(), "form submission not recorded", "error", err, "request_id", r.RequestID())
	}
	return nil
}

func (si *Site) showAlreadySubmitted(r *Request, done AlreadySubmitted) error {
	return si.RenderPage(r, http.StatusConflict, "already-sent.html", Page{Heading: "Already submitted", Section: "admin", Data: done})
}

// CreateRecord creates a record from a form and redirects to it with a notice. If the same form is
// submitted twice, the second request redirects to the record that the first one created. If values
// are invalid, showForm shows the form again. undoOf returns the address that undoes the creation; it is nil if nothing does.
func CreateRecord[T any](p *Site, r *Request, notice string, pathOf, undoOf func(T) string, create func(vault.Idempotency[T]) (T, error),
	showForm func(r *Request, status int, form url.Values, rejected map[string]string) error,
) error {
	idempotency := FormIdempotency(r, "", pathOf)
	created, err := create(idempotency)
	domainErr, ok := errors.AsType[*errs.Error](err)
	switch {
	case errors.Is(err, vault.ErrAlreadyProcessed):
		stored, found, err := p.App.StoredResponse(r.Context(), idempotency.KeyHash)
		if err != nil || !found {
			return errors.Join(err, NotFound(r))
		}
		return r.Redirect(LocalAddress(stored.Header["Location"]))
	case ok && domainErr.Kind == errs.Invalid:
		return showForm(r, http.StatusUnprocessableEntity, r.PostForm, FieldProblems(domainErr.Fields))
	case err != nil:
		return err
	}
	undo := ""
	if undoOf != nil {
		undo = undoOf(created)
	}
	return p.RedirectWithUndo(r, pathOf(created), notice, undo)
}

// FormIdempotency returns the idempotency key of a form and the redirect to store under it. The key
// depends on the form's token and content, so a form that the user goes back to and changes counts
// as a new form. part distinguishes several records of one form. Without a token, nothing is stored.
func FormIdempotency[T any](r *Request, part string, pathOf func(T) string) vault.Idempotency[T] {
	if r.PostForm.Get("once") == "" {
		return vault.Idempotency[T]{}
	}
	form := r.PostForm.Encode()
	content := sha256.Sum256([]byte(form))
	return vault.Idempotency[T]{
		KeyHash:     sha256.Sum256([]byte("page\n" + r.Record() + "\nPOST " + r.URL.Path + "\n" + part + "\n" + form)),
		RequestHash: hex.EncodeToString(content[:]),
		Render: func(created T) (int, map[string]string, []byte, error) {
			return http.StatusSeeOther, map[string]string{"Location": pathOf(created)}, nil, nil
		},
	}
}
