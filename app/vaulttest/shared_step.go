package vaulttest

import (
	"errors"
	"testing"

	"deedkeep/app/auth"
)

// step shows the password alone and gives the token of the step after it.
func (p *UserFixture) BeginSignIn(t *testing.T, name, address string) string {
	t.Helper()
	_, err := p.TrySignIn(t, name, GoodPassword, "", address)
	WantSignInError(t, "the password alone", err, auth.CodeNeeded)
	var asked *auth.SignInError
	if !errors.As(err, &asked) || asked.Challenge == "" {
		t.Fatalf("no step: %v", err)
	}
	return asked.Challenge
}

func (p *UserFixture) FinishSignIn(t *testing.T, step, code, address string) (auth.SignedIn, error) {
	t.Helper()
	return p.Users.SignIn(t.Context(), auth.SignInDraft{Challenge: step, Code: code, Address: address})
}
