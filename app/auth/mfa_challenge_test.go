package auth_test

import (
	"errors"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// After the password step, the challenge token and a code complete the sign-in without
// running Argon2 again. A challenge works only once and expires after ChallengeTTL.
func TestChallenge(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	secret, recovery := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	p.Clock.Advance(time.Minute)
	challenge, before := p.BeginSignIn(t, "kim", "192.0.2.1"), p.Users.HashRuns()
	_, err := p.FinishSignIn(t, challenge, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "no code", err, auth.CodeNeeded)
	_, err = p.FinishSignIn(t, challenge, "000000", "192.0.2.1")
	vaulttest.WantSignInError(t, "wrong code", err, auth.WrongCode)
	in, err := p.FinishSignIn(t, challenge, p.TOTPCode(t, secret), "192.0.2.1")
	if runs := p.Users.HashRuns() - before; err != nil || in.User.Name != "kim" || runs != 0 {
		t.Errorf("sign in with the code: got user %q, error %v, and %d argon2 runs; want kim, no error, and 0",
			in.User.Name, err, runs)
	}
	_, err = p.FinishSignIn(t, challenge, recovery[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "used challenge", err, auth.ChallengeExpired)
	for _, tt := range []struct{ name, challenge string }{
		{"invalid challenge", "x"}, {"truncated challenge", challenge[1:]}, {"session token", in.Token},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.FinishSignIn(t, tt.challenge, recovery[0], "192.0.2.1")
			vaulttest.WantSignInError(t, tt.name, err, auth.ChallengeExpired)
		})
	}
	late := p.BeginSignIn(t, "kim", "192.0.2.1")
	p.Clock.Advance(auth.ChallengeTTL)
	_, err = p.FinishSignIn(t, late, recovery[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "expired challenge", err, auth.ChallengeExpired)
}

// A challenge becomes invalid if its user's password is changed or its user is disabled.
func TestChallengeEndsWithPassword(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	actor := p.Actor(t, "kim")
	_, recovery := p.EnableTwoFactor(t, actor)
	challenge := p.BeginSignIn(t, "kim", "192.0.2.1")
	const replacement = vaulttest.GoodPassword + " again"
	if err := p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, replacement); err != nil {
		t.Fatalf("change password: %v", err)
	}
	_, err := p.FinishSignIn(t, challenge, recovery[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "after a password change", err, auth.WrongPassword)
	if err := p.Users.ChangePassword(t.Context(), actor, replacement, vaulttest.GoodPassword); err != nil {
		t.Fatalf("change the password back: %v", err)
	}
	challenge = p.BeginSignIn(t, "kim", "192.0.2.2")
	if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, kim.ID); err != nil {
		t.Fatalf("disable user: %v", err)
	}
	_, err = p.FinishSignIn(t, challenge, recovery[0], "192.0.2.2")
	vaulttest.WantSignInError(t, "disabled user", err, auth.WrongPassword)
}

// Wrong codes sent with a challenge count the same as wrong codes sent with the password.
func TestChallengeResistsGuessing(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	p.EnableTwoFactor(t, p.Actor(t, "kim"))
	challenge, guesses := p.BeginSignIn(t, "kim", "203.0.113.9"), 0
	for start := p.Clock.Now(); p.Clock.Now().Sub(start) < 15*time.Minute; {
		_, err := p.FinishSignIn(t, challenge, "000000", "203.0.113.9")
		switch wait := retryWait(err); {
		case wait > 0:
			p.Clock.Advance(wait)
		case signInReason(err) == auth.ChallengeExpired:
			challenge = p.BeginSignIn(t, "kim", "192.0.2.1") // from an address that isn't throttled
		default:
			vaulttest.WantSignInError(t, "wrong code", err, auth.WrongCode)
			guesses++
		}
	}
	if guesses > 10 {
		t.Errorf("guesses in 15 minutes = %d, want at most 10", guesses)
	}
}

// signInReason returns the reason of a SignInError, or "" for any other error.
func signInReason(err error) auth.Reason {
	if r, ok := errors.AsType[*auth.SignInError](err); ok {
		return r.Reason
	}
	return ""
}

// The number of challenges per user is limited, so that a client that knows the password
// can't fill the memory. The oldest challenge is evicted.
func TestChallengeCountIsLimited(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	_, recovery := p.EnableTwoFactor(t, p.Actor(t, "kim"))
	first := p.BeginSignIn(t, "kim", "192.0.2.1")
	last := ""
	for range 5 {
		p.Clock.Advance(time.Second)
		last = p.BeginSignIn(t, "kim", "192.0.2.1")
	}
	_, err := p.FinishSignIn(t, first, recovery[0], "192.0.2.1")
	vaulttest.WantSignInError(t, "oldest of six challenges", err, auth.ChallengeExpired)
	if _, err := p.FinishSignIn(t, last, recovery[0], "192.0.2.1"); err != nil {
		t.Errorf("sign in with the newest challenge: %v", err)
	}
}
