package page

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// CreateRecord creates a record from a form and redirects to it with a notice. If the same form is
// submitted twice, the second request redirects to the record that the first one created. If values
// are invalid, showForm shows the form again.
func CreateRecord[T any](p *Site, r *Request, notice string, pathOf func(T) string, create func(vault.Idempotency[T]) (T, error),
	showForm func(r *Request, status int, form url.Values, rejected map[string]string) error,
) error {
	idempotency := FormIdempotency(r, "", pathOf)
	created, err := create(idempotency)
	domainErr, ok := errors.AsType[*errs.Error](err)
	switch {
	case errors.Is(err, vault.ErrAlreadyProcessed):
		stored, found, err := p.Vault.StoredResponse(r.Context(), idempotency.KeyHash)
		if err != nil || !found {
			return errors.Join(err, NotFound(r))
		}
		return r.Redirect(LocalAddress(stored.Header["Location"]))
	case ok && domainErr.Kind == errs.Invalid:
		return showForm(r, http.StatusUnprocessableEntity, r.PostForm, FieldProblems(domainErr.Fields))
	case err != nil:
		return err
	}
	return p.RedirectWithNotice(r, pathOf(created), notice)
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
