package vaulttest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pquerna/otp/totp"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

// GoodPassword is the password of every user of a UserFixture.
const GoodPassword = "a long walk to the courthouse"

// UserFixture is a vault with a test clock, for tests of users and their sessions.
type UserFixture struct {
	*instance.Instance
	Clock *Clock
}

// NewUserFixture opens a vault with test options. If change is not nil, it may modify the options first.
func NewUserFixture(t *testing.T, change func(*instance.Options)) *UserFixture {
	t.Helper()
	clock := NewClock()
	v, _ := OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		if change != nil {
			change(o)
		}
	})
	return &UserFixture{v, clock}
}

// CreateUser creates a user.
func (u *UserFixture) CreateUser(t *testing.T, name string, role model.Role) model.User {
	t.Helper()
	password := GoodPassword
	_, user, err := u.Users.Create(t.Context(), Operator, model.UserDraft{Name: name, Role: role, Password: &password})
	if err != nil {
		t.Fatalf("create user %s: %v", name, err)
	}
	return user
}

// PutUser stores a user without the checks of the service.
func (u *UserFixture) PutUser(t *testing.T, user model.User) {
	t.Helper()
	if err := u.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.PutUser(user) }); err != nil {
		t.Fatalf("store user %s: %v", user.Name, err)
	}
}

// TrySignIn tries to sign a user in and returns the session or the error.
func (u *UserFixture) TrySignIn(t *testing.T, name, password, code, address string) (auth.SignedIn, error) {
	t.Helper()
	return u.Users.SignIn(t.Context(), auth.SignInDraft{Name: name, Password: password, Code: code, Address: address,
		Device: "Firefox on Windows"})
}

// SignIn signs a user in and fails the test if an error occurs.
func (u *UserFixture) SignIn(t *testing.T, name string) auth.SignedIn {
	t.Helper()
	in, err := u.TrySignIn(t, name, GoodPassword, "", "192.0.2.1")
	if err != nil {
		t.Fatalf("sign in %s: %v", name, err)
	}
	return in
}

// SignInFrom signs a user in from an address.
func (u *UserFixture) SignInFrom(t *testing.T, name, address string) {
	t.Helper()
	if _, err := u.TrySignIn(t, name, GoodPassword, "", address); err != nil {
		t.Fatalf("sign in %s from %s: %v", name, address, err)
	}
}

// BeginSignIn completes the password step for a user with two-factor authentication and returns the challenge for
// FinishSignIn.
func (u *UserFixture) BeginSignIn(t *testing.T, name, address string) string {
	t.Helper()
	_, err := u.TrySignIn(t, name, GoodPassword, "", address)
	WantSignInError(t, "the password alone", err, auth.CodeNeeded)
	var needed *auth.SignInError
	if !errors.As(err, &needed) || needed.Challenge == "" {
		t.Fatalf("sign in %s: got %v, want a challenge", name, err)
	}
	return needed.Challenge
}

// FinishSignIn completes the sign-in started by BeginSignIn with a verification code.
func (u *UserFixture) FinishSignIn(t *testing.T, challenge, code, address string) (auth.SignedIn, error) {
	t.Helper()
	return u.Users.SignIn(t.Context(), auth.SignInDraft{Challenge: challenge, Code: code, Address: address})
}

// ExhaustAttempts uses up the failed sign-in attempts of an address with unknown usernames.
func (u *UserFixture) ExhaustAttempts(t *testing.T, address string) {
	t.Helper()
	for i := range 60 {
		_, err := u.TrySignIn(t, fmt.Sprintf("random %d", i), "wrong password", "", address)
		WantSignInError(t, "a random name", err, auth.WrongPassword)
	}
}

// WantSignInError checks the reason of a failed sign-in. what describes the attempt in the failure message.
func WantSignInError(t *testing.T, what string, err error, want auth.Reason) {
	t.Helper()
	r, ok := errors.AsType[*auth.SignInError](err)
	if !ok || r.Reason != want || errs.KindOf(err) != errs.Unauthenticated {
		t.Errorf("%s: got %v, want reason %s", what, err, want)
	}
}

// Actor signs a user in and returns the actor for the session.
func (u *UserFixture) Actor(t *testing.T, name string) model.Actor {
	t.Helper()
	return u.Authenticate(t, u.SignIn(t, name).Token)
}

// Authenticate returns the actor for a session token.
func (u *UserFixture) Authenticate(t *testing.T, token string) model.Actor {
	t.Helper()
	actor, err := u.Sessions.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatalf("authenticate: %v", err)
	}
	return actor
}

// WantSignedOut checks that a session token is not valid. what describes the session in the failure message.
func (u *UserFixture) WantSignedOut(t *testing.T, what, token string) {
	t.Helper()
	_, err := u.Sessions.Authenticate(t.Context(), token)
	WantKind(t, what, err, errs.Unauthenticated)
}

// EnableTwoFactor enables two-factor authentication for a user.
func (u *UserFixture) EnableTwoFactor(t *testing.T, actor model.Actor) (secret string, recovery []string) {
	t.Helper()
	offer, err := u.Users.BeginTwoFactor(t.Context(), actor, GoodPassword)
	if err != nil {
		t.Fatalf("begin two-factor setup: %v", err)
	}
	recovery, err = u.Users.ConfirmTwoFactor(t.Context(), actor, u.TOTPCode(t, offer.Secret))
	if err != nil || len(recovery) != 10 {
		t.Fatalf("confirm two-factor setup: got %v, %v, want 10 recovery codes", recovery, err)
	}
	return offer.Secret, recovery
}

// TOTPCode returns the current verification code for a TOTP secret.
func (u *UserFixture) TOTPCode(t *testing.T, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, u.Clock.Now())
	if err != nil {
		t.Fatalf("generate a verification code: %v", err)
	}
	return code
}

// SessionCount returns the number of stored sessions.
func (u *UserFixture) SessionCount(t *testing.T) (n int) {
	t.Helper()
	err := u.Store.View(t.Context(), func(tx *store.Tx) error {
		tx.EachSession(func(model.Session) bool { n++; return true })
		return nil
	})
	if err != nil {
		t.Fatalf("count sessions: %v", err)
	}
	return n
}

// AuditEvents returns up to 1,000 entries of the audit log, oldest first.
func (u *UserFixture) AuditEvents(t *testing.T) []model.Event {
	t.Helper()
	var page store.Page[model.Event]
	err := u.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		page, err = tx.ListEvents(store.Query{Limit: 1000})
		return err
	})
	if err != nil {
		t.Fatalf("list the audit log: %v", err)
	}
	return page.Items
}
