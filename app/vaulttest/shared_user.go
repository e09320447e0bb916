package vaulttest

import (
	"errors"
	"testing"

	"github.com/pquerna/otp/totp"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
)

const GoodPassword = "a long walk to the courthouse"

// people is a vault with its clock, for tests about users.
type UserFixture struct {
	*instance.Instance
	Clock *Clock
}

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

// user makes one who can sign in.
func (p *UserFixture) CreateUser(t *testing.T, name string, role model.Role) model.User {
	t.Helper()
	password := GoodPassword
	_, user, err := p.Users.Create(t.Context(), Operator, model.UserDraft{Name: name, Role: role, Password: &password})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// put writes a user as no verb would.
func (p *UserFixture) Put(t *testing.T, user model.User) {
	t.Helper()
	if err := p.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.PutUser(user) }); err != nil {
		t.Fatal(err)
	}
}

func (p *UserFixture) TrySignIn(t *testing.T, name, password, code, address string) (auth.SignedIn, error) {
	t.Helper()
	return p.Users.SignIn(t.Context(), auth.SignInDraft{Name: name, Password: password, Code: code, Address: address, Device: "Firefox on Windows"})
}

func (p *UserFixture) SignIn(t *testing.T, name string) auth.SignedIn {
	t.Helper()
	in, err := p.TrySignIn(t, name, GoodPassword, "", "192.0.2.1")
	if err != nil {
		t.Fatalf("sign in %s: %v", name, err)
	}
	return in
}

// actor signs a user in.
func (p *UserFixture) Actor(t *testing.T, name string) model.Actor {
	t.Helper()
	return p.Authenticate(t, p.SignIn(t, name).Token)
}

func (p *UserFixture) Authenticate(t *testing.T, token string) model.Actor {
	t.Helper()
	actor, err := p.Sessions.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatalf("authenticate: %v", err)
	}
	return actor
}

func (p *UserFixture) WantSignedOut(t *testing.T, what, token string) {
	t.Helper()
	_, err := p.Sessions.Authenticate(t.Context(), token)
	WantKind(t, what, err, errs.Unauthenticated)
}

// refused wants a refusal of SignIn for a reason.
func WantSignInError(t *testing.T, what string, err error, want auth.Reason) {
	t.Helper()
	r, ok := errors.AsType[*auth.SignInError](err)
	if !ok || r.Reason != want || errs.KindOf(err) != errs.Unauthenticated {
		t.Errorf("%s: %v, want reason %s", what, err, want)
	}
}

func (p *UserFixture) TOTPCode(t *testing.T, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, p.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// factor sets up a second factor.
func (p *UserFixture) EnableTwoFactor(t *testing.T, actor model.Actor) (secret string, recovery []string) {
	t.Helper()
	offer, err := p.Users.BeginTwoFactor(t.Context(), actor, GoodPassword)
	if err != nil {
		t.Fatal(err)
	}
	recovery, err = p.Users.ConfirmTwoFactor(t.Context(), actor, p.TOTPCode(t, offer.Secret))
	if err != nil || len(recovery) != 10 {
		t.Fatalf("%v, %v", recovery, err)
	}
	return offer.Secret, recovery
}

// stored is how many sessions the database holds.
func (p *UserFixture) SessionCount(t *testing.T) (n int) {
	t.Helper()
	err := p.Store.View(t.Context(), func(tx *store.Tx) error {
		tx.EachSession(func(model.Session) bool { n++; return true })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
