package vaulttest

import (
	"fmt"
	"testing"

	"deedkeep/app/auth"
)

// exhaust uses up the tries of an address with names that no one has.
func (p *Users) Exhaust(t *testing.T, address string) {
	t.Helper()
	for i := range 60 {
		_, err := p.Try(t, fmt.Sprintf("random %d", i), "wrong password", "", address)
		WantSignInError(t, "a random name", err, auth.WrongPassword)
	}
}

func (p *Users) In(t *testing.T, name, address string) {
	t.Helper()
	if _, err := p.Try(t, name, GoodPassword, "", address); err != nil {
		t.Fatalf("sign in %s from %s: %v", name, address, err)
	}
}
