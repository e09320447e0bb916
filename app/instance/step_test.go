package instance_test

import (
	"errors"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/model"
)

// step shows the password alone and gives the token of the step after it.
func (p *people) step(t *testing.T, name, address string) string {
	t.Helper()
	_, err := p.try(t, name, goodPassword, "", address)
	refused(t, "the password alone", err, auth.CodeNeeded)
	var asked *auth.SignInError
	if !errors.As(err, &asked) || asked.Challenge == "" {
		t.Fatalf("no step: %v", err)
	}
	return asked.Challenge
}

func (p *people) goOn(t *testing.T, step, code, address string) (auth.SignedIn, error) {
	t.Helper()
	return p.Users.SignIn(t.Context(), auth.SignInDraft{Challenge: step, Code: code, Address: address})
}

// After the password the code alone lets in, once, for five minutes, with no other run
// of argon2; and the password need not be right any more by then.
func TestSignInInTwoSteps(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "kim", model.RoleAdmin)
	plain, codes := p.factor(t, p.actor(t, "kim"))
	p.clock.Advance(time.Minute)
	step, before := p.step(t, "kim", "192.0.2.1"), p.Users.HashRuns()
	_, err := p.goOn(t, step, "", "192.0.2.1")
	refused(t, "no code", err, auth.CodeNeeded)
	_, err = p.goOn(t, step, "000000", "192.0.2.1")
	refused(t, "a wrong code", err, auth.WrongCode)
	in, err := p.goOn(t, step, p.code(t, plain), "192.0.2.1")
	if err != nil || in.User.Name != "kim" || p.Users.HashRuns() != before {
		t.Errorf("%v, %d runs", err, p.Users.HashRuns()-before)
	}
	_, err = p.goOn(t, step, codes[0], "192.0.2.1")
	refused(t, "the step once more", err, auth.ChallengeExpired)
	for _, none := range []string{"x", step[1:], in.Token} {
		_, err = p.goOn(t, none, codes[0], "192.0.2.1")
		refused(t, "no step", err, auth.ChallengeExpired)
	}
	late := p.step(t, "kim", "192.0.2.1")
	p.clock.Advance(auth.ChallengeTTL)
	_, err = p.goOn(t, late, codes[0], "192.0.2.1")
	refused(t, "a step of five minutes ago", err, auth.ChallengeExpired)
}

// A step ends with the password that it was made with, and with the user.
func TestStepEndsWithPassword(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "owner", model.RoleAdmin)
	kim := p.user(t, "kim", model.RoleAdmin)
	actor := p.actor(t, "kim")
	_, codes := p.factor(t, actor)
	step := p.step(t, "kim", "192.0.2.1")
	if err := p.Users.ChangePassword(t.Context(), actor, goodPassword, goodPassword+" anew"); err != nil {
		t.Fatal(err)
	}
	_, err := p.goOn(t, step, codes[0], "192.0.2.1")
	refused(t, "after another password", err, auth.WrongPassword)
	if err := p.Users.ChangePassword(t.Context(), actor, goodPassword+" anew", goodPassword); err != nil {
		t.Fatal(err)
	}
	step = p.step(t, "kim", "192.0.2.2")
	if _, err := p.Users.Disable(t.Context(), clerk, kim.ID); err != nil {
		t.Fatal(err)
	}
	_, err = p.goOn(t, step, codes[0], "192.0.2.2")
	refused(t, "a disabled user", err, auth.WrongPassword)
}

// Codes that are guessed after one good password count as those with the password.
func TestStepResistsGuessing(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "kim", model.RoleAdmin)
	p.factor(t, p.actor(t, "kim"))
	step, guesses := p.step(t, "kim", "203.0.113.9"), 0
	for began := p.clock.Now(); p.clock.Now().Sub(began) < 15*time.Minute; {
		_, err := p.goOn(t, step, "000000", "203.0.113.9")
		switch wait := tooMany(err); {
		case wait > 0:
			p.clock.Advance(wait)
		case refusedFor(err) == auth.ChallengeExpired:
			step = p.step(t, "kim", "192.0.2.1") // elsewhere, to be sure that it works
		default:
			refused(t, "a guess", err, auth.WrongCode)
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
	p := peopled(t, nil)
	p.user(t, "kim", model.RoleAdmin)
	_, codes := p.factor(t, p.actor(t, "kim"))
	first := p.step(t, "kim", "192.0.2.1")
	last := ""
	for range 5 {
		p.clock.Advance(time.Second)
		last = p.step(t, "kim", "192.0.2.1")
	}
	_, err := p.goOn(t, first, codes[0], "192.0.2.1")
	refused(t, "the oldest of six", err, auth.ChallengeExpired)
	if _, err := p.goOn(t, last, codes[0], "192.0.2.1"); err != nil {
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
	p := peopled(t, nil)
	opened := func(want bool) {
		t.Helper()
		if got, err := p.Users.HasAdmin(t.Context()); err != nil || got != want {
			t.Errorf("opened: %v, %v", got, err)
		}
	}
	opened(false)
	p.user(t, "viewer", model.RoleViewer)
	opened(false)
	token, _, err := p.Users.Create(t.Context(), clerk, model.UserDraft{Name: "owner", Role: model.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	opened(false)
	if _, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: goodPassword}); err != nil {
		t.Fatal(err)
	}
	opened(true)
}
