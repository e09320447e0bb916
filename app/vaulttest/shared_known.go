package vaulttest

import (
	"fmt"
	"testing"

	"deedkeep/app/auth"
)

// exhaust uses up the tries of an address with names that no one has.
func (p *UserFixture) ExhaustAttempts(t *testing.T, address string) {
	t.Helper()
	for i := range 60 {
		_, err := p.TrySignIn(t, fmt.Sprintf("random %d", i), "wrong password", "", address)
		WantSignInError(t, "a random name", err, auth.WrongPassword)
	}
}

func (p *UserFixture) SignInFrom(t *testing.T, name, address string) {
	t.Helper()
	if _, err := p.TrySignIn(t, name, GoodPassword, "", address); err != nil {
		t.Fatalf("sign in %s from %s: %v", name, address, err)
	}
}
