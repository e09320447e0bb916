package auth_test

import (
	"errors"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// After the password the code alone lets in, once, for five minutes, with no other run
// of argon2; and the password need not be right any more by then.
func TestSignInInTwoSteps(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	plain, codes := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	p.Clock.Advance(time.Minute)
	step, before := p.BeginSignIn(t, "kim", "192.0.2.1"), p.Users.HashRuns()
	_, err := p.FinishSignIn(t, step, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "no code", err, auth.CodeNeeded)
	_, err = p.FinishSignIn(t, step, "000000", "192.0.2.1")
	vaulttest.WantSignInError(t, "a wrong code", err, auth.WrongCode)
	in, err := p.FinishSignIn(t, step, p.TOTPCode(t, plain), "192.0.2.1")
	if err != nil || in.User.Name != "kim" || p.Users.HashRuns() != before {
		t.Errorf("%v, %d runs", err, p.Users.HashRuns()-before)
	}
	_, err = p.FinishSignIn(t, step, codes[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "the step once more", err, auth.ChallengeExpired)
	for _, none := range []string{"x", step[1:], in.Token} {
		_, err = p.FinishSignIn(t, none, codes[0], "192.0.2.1")
		vaulttest.WantSignInError(t, "no step", err, auth.ChallengeExpired)
	}
	late := p.BeginSignIn(t, "kim", "192.0.2.1")
	p.Clock.Advance(auth.ChallengeTTL)
	_, err = p.FinishSignIn(t, late, codes[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "a step of five minutes ago", err, auth.ChallengeExpired)
}

// A step ends with the password that it was made with, and with the user.
func TestStepEndsWithPassword(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	actor := p.Actor(t, "kim")
	_, codes := p.EnableTwoFactor(t, actor)
	step := p.BeginSignIn(t, "kim", "192.0.2.1")
	if err := p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, vaulttest.GoodPassword+" anew"); err != nil {
		t.Fatal(err)
	}
	_, err := p.FinishSignIn(t, step, codes[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "after another password", err, auth.WrongPassword)
	if err := p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword+" anew", vaulttest.GoodPassword); err != nil {
		t.Fatal(err)
	}
	step = p.BeginSignIn(t, "kim", "192.0.2.2")
	if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, kim.ID); err != nil {
		t.Fatal(err)
	}
	_, err = p.FinishSignIn(t, step, codes[0], "192.0.2.2")
	vaulttest.WantSignInError(t, "a disabled user", err, auth.WrongPassword)
}

// Codes that are guessed after one good password count as those with the password.
func TestStepResistsGuessing(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	p.EnableTwoFactor(t, p.Actor(t, "kim"))
	step, guesses := p.BeginSignIn(t, "kim", "203.0.113.9"), 0
	for began := p.Clock.Now(); p.Clock.Now().Sub(began) < 15*time.Minute; {
		_, err := p.FinishSignIn(t, step, "000000", "203.0.113.9")
		switch wait := tooMany(err); {
		case wait > 0:
			p.Clock.Advance(wait)
		case refusedFor(err) == auth.ChallengeExpired:
			step = p.BeginSignIn(t, "kim", "192.0.2.1") // elsewhere, to be sure that it works
		default:
			vaulttest.WantSignInError(t, "a guess", err, auth.WrongCode)
			guesses++
		}
	}
	if guesses > 10 {
		t.Errorf("%d guesses in 15 minutes", guesses)
	}
}

func refusedFor(err error) auth.Reason {
	if r, ok := errors.AsType[*auth.SignInError](err); ok {
		return r.Reason
	}
	return ""
}

// Whoever has the password cannot fill the memory with steps; the newest works.
func TestStepsAreBounded(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	_, codes := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	first := p.BeginSignIn(t, "kim", "192.0.2.1")
	last := ""
	for range 5 {
		p.Clock.Advance(time.Second)
		last = p.BeginSignIn(t, "kim", "192.0.2.1")
	}
	_, err := p.FinishSignIn(t, first, codes[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "the oldest of six", err, auth.ChallengeExpired)
	if _, err := p.FinishSignIn(t, last, codes[0], "192.0.2.1"); err != nil {
		t.Error(err)
	}
}

func TestWaitInWords(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		time.Second: "1 second", 8 * time.Second: "8 seconds", 90 * time.Second: "90 seconds", 91 * time.Second: "2 minutes", 15 * time.Minute: "15 minutes",
	} {
		err := &auth.SignInError{Reason: auth.TooManyAttempts, Wait: wait}
		if got := err.Error(); got != "Too many tries. Try again in "+want+"." {
			t.Errorf("%s: %s", wait, got)
		}
	}
}

// Nobody but an administrator with a password opens the vault for the first time.
func TestOpened(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	opened := func(want bool) {
		t.Helper()
		if got, err := p.Users.HasAdmin(t.Context()); err != nil || got != want {
			t.Errorf("opened: %v, %v", got, err)
		}
	}
	opened(false)
	p.CreateUser(t, "viewer", model.RoleViewer)
	opened(false)
	token, _, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "owner", Role: model.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	opened(false)
	if _, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword}); err != nil {
		t.Fatal(err)
	}
	opened(true)
}
