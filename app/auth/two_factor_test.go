package auth_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestTwoFactorSetup(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	other := p.SignIn(t, "kim")
	actor := p.Actor(t, "kim")
	_, err := p.Users.ConfirmTwoFactor(t.Context(), actor, "123456")
	vaulttest.WantKind(t, "confirm before setup", err, errs.Conflict)
	_, err = p.Users.BeginTwoFactor(t.Context(), actor, "wrong password")
	vaulttest.WantKind(t, "begin with a wrong password", err, errs.Invalid)
	setup, err := p.Users.BeginTwoFactor(t.Context(), actor, vaulttest.GoodPassword)
	if err != nil || !strings.HasPrefix(setup.URI, "otpauth://totp/deedkeep:kim?") || !strings.Contains(setup.URI, setup.Secret) {
		t.Fatalf("BeginTwoFactor(): URI %q, error %v; want an otpauth URI of kim with the secret", setup.URI, err)
	}
	_, err = p.Users.ConfirmTwoFactor(t.Context(), actor, "000000")
	vaulttest.WantKind(t, "confirm with a wrong code", err, errs.Invalid)
	p.SignIn(t, "kim") // until the setup is confirmed, the password is enough
	recovery, err := p.Users.ConfirmTwoFactor(t.Context(), actor, p.TOTPCode(t, setup.Secret))
	if err != nil || len(recovery) != 10 {
		t.Fatalf("ConfirmTwoFactor() returned %d recovery codes, %v; want 10", len(recovery), err)
	}
	if list, err := p.Sessions.List(t.Context(), actor); err != nil || len(list) != 1 || list[0].Hash != actor.Session {
		t.Errorf("List() after setup = %+v, %v; want only the current session", list, err)
	}
	p.WantSignedOut(t, "other session", other.Token)
}

// ResetTwoFactor keeps the password.
func TestResetTwoFactor(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	kim := p.CreateUser(t, "kim", model.RoleStaff)
	in := p.SignIn(t, "kim")
	p.EnableTwoFactor(t, p.Authenticate(t, in.Token))
	user, err := p.Users.ResetTwoFactor(t.Context(), vaulttest.Operator, kim.ID)
	if err != nil || user.TwoFactor != nil || user.Password == "" {
		t.Fatalf("ResetTwoFactor(%d) = %+v, %v; want the password and no two-factor authentication", kim.ID, user, err)
	}
	p.WantSignedOut(t, "session after a reset", in.Token)
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "192.0.2.1"); err != nil {
		t.Errorf("sign in without a code: %v", err)
	}
	_, err = p.Users.ResetTwoFactor(t.Context(), vaulttest.Operator, kim.ID)
	vaulttest.WantKind(t, "reset again", err, errs.Conflict)
}

func TestTwoFactorSignIn(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	secret, recovery := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	signIn := func(code string) error {
		_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, code, "192.0.2.7")
		return err
	}
	vaulttest.WantSignInError(t, "no code", signIn(""), auth.CodeNeeded)
	vaulttest.WantSignInError(t, "code that confirmed the setup", signIn(p.TOTPCode(t, secret)), auth.WrongCode)
	p.Clock.Advance(30 * time.Second)
	code := p.TOTPCode(t, secret)
	if err := signIn(code[:3] + " " + code[3:]); err != nil {
		t.Errorf("sign in with a current code: %v", err)
	}
	vaulttest.WantSignInError(t, "same code again", signIn(code), auth.WrongCode)
	if err := signIn(strings.ToUpper(recovery[3])); err != nil {
		t.Errorf("sign in with a recovery code: %v", err)
	}
	vaulttest.WantSignInError(t, "same recovery code again", signIn(recovery[3]), auth.WrongCode)
	user, err := p.Users.GetByName(t.Context(), "kim")
	if err != nil {
		t.Errorf("get user: %v", err)
	} else if n := len(user.TwoFactor.RecoveryHashes); n != 9 {
		t.Errorf("unused recovery codes = %d, want 9", n)
	}
	_, err = p.TrySignIn(t, "kim", "wrong password", recovery[4], "192.0.2.8")
	vaulttest.WantSignInError(t, "wrong password with a recovery code", err, auth.WrongPassword)
	if err := signIn(recovery[4]); err != nil {
		t.Errorf("sign in with a recovery code sent with a wrong password before: %v", err)
	}
}

// If several sign-ins use the same code at the same time, only one succeeds.
func TestTwoFactorCodeWorksOnce(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	secret, recovery := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	p.Clock.Advance(time.Minute)
	for name, code := range map[string]string{"code": p.TOTPCode(t, secret), "recovery code": recovery[0]} {
		t.Run(name, func(t *testing.T) {
			done := make(chan error)
			for i := range 4 {
				go func() {
					draft := auth.SignInDraft{Name: "kim", Password: vaulttest.GoodPassword, Code: code, Address: fmt.Sprintf("192.0.2.%d", i)}
					_, err := p.Users.SignIn(context.Background(), draft)
					done <- err
				}()
			}
			successes := 0
			for range 4 {
				if err := <-done; err == nil {
					successes++
				}
			}
			if successes != 1 {
				t.Errorf("successful sign-ins = %d, want 1", successes)
			}
		})
	}
}

// An attacker who knows the password can't guess the code from many addresses. In the
// meantime, the owner can sign in with a recovery code.
func TestTwoFactorCodeLimitPerAccount(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	secret, recovery := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	p.Clock.Advance(time.Minute)
	for i := range 20 {
		_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "000000", fmt.Sprintf("198.51.100.%d", i))
		vaulttest.WantSignInError(t, "wrong code", err, auth.WrongCode)
	}
	_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, p.TOTPCode(t, secret), "192.0.2.1")
	vaulttest.WantSignInError(t, "after 20 wrong codes", err, auth.TooManyAttempts)
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, recovery[0], "192.0.2.2"); err != nil {
		t.Errorf("sign in with a recovery code: %v", err)
	}
	p.Clock.Advance(time.Hour)
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, p.TOTPCode(t, secret), "192.0.2.1"); err != nil {
		t.Errorf("sign in with the code an hour later: %v", err)
	}
}

func TestTwoFactorRequired(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) {
		o.Load = vaulttest.With(map[string]string{"users.require_two_factor": "true"})
	})
	p.CreateUser(t, "kim", model.RoleAdmin)
	in := p.SignIn(t, "kim")
	actor := p.Authenticate(t, in.Token)
	if !in.Enroll || actor.Role != "" || actor.Role.Can(model.PermRead) {
		t.Errorf("sign in before setup: got enroll %v and actor %+v, want enroll and no role", in.Enroll, actor)
	}
	draft := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("2026-1")}}
	_, err := p.Orders.Create(t.Context(), actor, draft, vault.Idempotency[model.Order]{})
	vaulttest.WantKind(t, "create an order", err, errs.Forbidden)
	_, err = p.Users.Rename(t.Context(), actor, actor.ID, "x")
	vaulttest.WantKind(t, "rename a user", err, errs.Forbidden)
	p.EnableTwoFactor(t, actor)
	if actor = p.Authenticate(t, in.Token); actor.Role != model.RoleAdmin {
		t.Errorf("role after setup = %q, want %q", actor.Role, model.RoleAdmin)
	}
	if _, err := p.Orders.Create(t.Context(), actor, draft, vault.Idempotency[model.Order]{}); err != nil {
		t.Errorf("create an order after setup: %v", err)
	}
	err = p.Users.RemoveTwoFactor(t.Context(), actor, vaulttest.GoodPassword)
	vaulttest.WantKind(t, "remove required two-factor authentication", err, errs.Conflict)
}

func TestTwoFactorRemove(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	actor := p.Actor(t, "kim")
	vaulttest.WantKind(t, "remove before setup", p.Users.RemoveTwoFactor(t.Context(), actor, vaulttest.GoodPassword), errs.Conflict)
	_, err := p.Users.NewRecoveryCodes(t.Context(), actor, vaulttest.GoodPassword)
	vaulttest.WantKind(t, "new recovery codes before setup", err, errs.Conflict)
	_, old := p.EnableTwoFactor(t, actor)
	fresh, err := p.Users.NewRecoveryCodes(t.Context(), actor, vaulttest.GoodPassword)
	if err != nil || len(fresh) != 10 {
		t.Fatalf("NewRecoveryCodes() returned %d codes, %v; want 10", len(fresh), err)
	}
	_, err = p.TrySignIn(t, "kim", vaulttest.GoodPassword, old[0], "192.0.2.7")
	vaulttest.WantSignInError(t, "old recovery code", err, auth.WrongCode)
	if _, err = p.TrySignIn(t, "kim", vaulttest.GoodPassword, fresh[0], "192.0.2.7"); err != nil {
		t.Errorf("sign in with a new recovery code: %v", err)
	}
	vaulttest.WantKind(t, "remove with a wrong password", p.Users.RemoveTwoFactor(t.Context(), actor, "wrong password"), errs.Invalid)
	if err := p.Users.RemoveTwoFactor(t.Context(), actor, vaulttest.GoodPassword); err != nil {
		t.Errorf("remove two-factor authentication: %v", err)
	}
	p.SignIn(t, "kim")
}
