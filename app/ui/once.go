package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"

	"deedkeep/app/vault"
)

// once keeps where a form led to, under its token and what was filled in: one that
// somebody went back to and filled in otherwise is another. A form without a token
// keeps nothing.
func once[T any](who visitor, form url.Values, path string, to func(T) string) vault.Keep[T] {
	if form.Get("once") == "" {
		return vault.Keep[T]{}
	}
	content := sha256.Sum256([]byte(form.Encode()))
	return vault.Keep[T]{
		Slot:    sha256.Sum256([]byte("page\n" + who.Record() + "\nPOST " + path + "\n" + form.Encode())),
		Request: hex.EncodeToString(content[:]),
		Render: func(made T) (int, map[string]string, []byte, error) {
			return http.StatusSeeOther, map[string]string{"Location": to(made)}, nil, nil
		},
	}
}
