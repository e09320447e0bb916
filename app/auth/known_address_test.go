package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vaulttest"
)

// officeAddress is an address that several users share.
const officeAddress = "198.51.100.7"

// A user who recently signed in from an address can still sign in there after others have
// used up the attempts of the address. Guesses at that user's password are still limited.
func TestSignInFromKnownAddress(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	p.CreateUser(t, "other", model.RoleStaff)
	p.SignInFrom(t, "owner", officeAddress)
	p.SignInFrom(t, "other", "192.0.2.1")
	p.ExhaustAttempts(t, officeAddress)
	p.SignInFrom(t, "Owner", officeAddress)
	_, err := p.TrySignIn(t, "other", vaulttest.GoodPassword, "", officeAddress)
	vaulttest.WantSignInError(t, "user not known at the address", err, auth.TooManyAttempts)
	_, err = p.TrySignIn(t, "other", vaulttest.GoodPassword, "", officeAddress)
	vaulttest.WantSignInError(t, "same user again", err, auth.TooManyAttempts)
	for range 3 {
		_, err = p.TrySignIn(t, "owner", "wrong password", "", officeAddress)
		vaulttest.WantSignInError(t, "wrong password of a known user", err, auth.TooManyAttempts)
	}
	before := p.Users.HashRuns()
	_, err = p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", officeAddress)
	vaulttest.WantSignInError(t, "after three wrong passwords", err, auth.TooManyAttempts)
	if runs := p.Users.HashRuns() - before; runs != 0 {
		t.Errorf("throttled user: argon2 ran %d times, want 0", runs)
	}
	p.Clock.Advance(time.Second)
	p.SignInFrom(t, "owner", officeAddress)
	p.SignInFrom(t, "other", "192.0.2.1")
}

// When an address has used up its attempts, responses don't reveal which users are known
// there. A known user with a wrong password, an unknown username, and another user with a
// right or wrong password all get the same response and wait time. They also cause the
// same number of Argon2 runs and count the same.
func TestKnownUsersStaySecret(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "known", model.RoleAdmin)
	p.CreateUser(t, "other address", model.RoleStaff)
	p.CreateUser(t, "right password", model.RoleStaff)
	p.SignInFrom(t, "known", officeAddress)
	p.SignInFrom(t, "other address", "192.0.2.1")
	p.ExhaustAttempts(t, officeAddress)
	p.Clock.Advance(time.Minute)
	type response struct {
		text string
		wait time.Duration
		runs uint64
	}
	signInFiveTimes := func(name, password string) (responses []response) {
		for range 5 {
			before := p.Users.HashRuns()
			_, err := p.TrySignIn(t, name, password, "", officeAddress)
			vaulttest.WantSignInError(t, name, err, auth.TooManyAttempts)
			responses = append(responses, response{err.Error(), retryWait(err), p.Users.HashRuns() - before})
		}
		return responses
	}
	want := signInFiveTimes("no one", "wrong password")
	if want[0].wait != 14*time.Minute || want[0].runs != 1 {
		t.Fatalf("first response to an unknown name: got %+v, want a wait of 14m and one run", want[0])
	}
	for _, tt := range []struct{ name, user, password string }{
		{"known user, wrong password", "known", "wrong password"},
		{"other user, wrong password", "other address", "wrong password"},
		{"other user, right password", "right password", vaulttest.GoodPassword},
		{"empty name and password", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := signInFiveTimes(tt.user, tt.password); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("sign in as %q: got %v, want %v", tt.user, got, want)
			}
		})
	}
}

// A user who is known at an address that has used up its attempts can complete both steps
// of two-factor authentication.
func TestTwoFactorFromKnownAddress(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	totpSecret, _ := p.EnableTwoFactor(t, p.Actor(t, "owner")) // from 192.0.2.1
	p.Clock.Advance(time.Minute)
	p.ExhaustAttempts(t, "192.0.2.1")
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "password without a code", err, auth.CodeNeeded)
	signInErr, _ := errors.AsType[*auth.SignInError](err)
	draft := auth.SignInDraft{Challenge: signInErr.Challenge, Code: p.TOTPCode(t, totpSecret), Address: "192.0.2.1"}
	otherAddress := draft
	otherAddress.Address = officeAddress
	p.ExhaustAttempts(t, officeAddress)
	_, err = p.Users.SignIn(t.Context(), otherAddress)
	vaulttest.WantSignInError(t, "code from another exhausted address", err, auth.TooManyAttempts)
	if _, err = p.Users.SignIn(t.Context(), draft); err != nil {
		t.Errorf("sign in with the code from the known address: %v", err)
	}
}

// If no user is known at an address, attempts above the limit don't run Argon2.
func TestThrottledAttemptFromUnknownAddressCostsNothing(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	p.SignInFrom(t, "owner", "192.0.2.1")
	p.ExhaustAttempts(t, officeAddress)
	before := p.Users.HashRuns()
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", officeAddress)
	vaulttest.WantSignInError(t, "unknown address", err, auth.TooManyAttempts)
	if runs := p.Users.HashRuns() - before; runs != 0 {
		t.Errorf("argon2 ran %d times, want 0", runs)
	}
}

// An address stays known for the configured time, even across a restart. 0 disables known
// addresses.
func TestKnownAddressExpires(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		ttl    time.Duration
		after  time.Duration
		reopen bool
		known  bool
	}{
		{"before expiration", 24 * time.Hour, 23 * time.Hour, false, true},
		{"after a restart", 24 * time.Hour, time.Hour, true, true},
		{"after expiration", 24 * time.Hour, 24 * time.Hour, false, false},
		{"turned off", 0, time.Minute, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			clock, opts := vaulttest.NewClock(), vaulttest.Options(t)
			opts.Now, opts.Load = clock.Now, vaulttest.With(map[string]string{"users.known_address": tt.ttl.String()})
			v, err := instance.Open(t.Context(), opts)
			if err != nil {
				t.Fatalf("open instance: %v", err)
			}
			p := &vaulttest.UserFixture{Instance: v, Clock: clock}
			p.CreateUser(t, "owner", model.RoleAdmin)
			p.SignInFrom(t, "owner", officeAddress)
			p.Clock.Advance(tt.after)
			if tt.reopen {
				vaulttest.Close(t, p.Instance)
				if p.Instance, err = instance.Open(t.Context(), opts); err != nil {
					t.Fatalf("reopen instance: %v", err)
				}
			}
			defer func() { vaulttest.Close(t, p.Instance) }()
			p.ExhaustAttempts(t, officeAddress)
			if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", officeAddress); (err == nil) != tt.known {
				t.Errorf("sign in %v later: got %v, want success: %v", tt.after, err, tt.known)
			}
		})
	}
}

// While sign-ins from other addresses fill the queue of password checks, a sign-in from an address
// that any user is known at gets a place, whatever its username and password are. It therefore reveals
// nothing about the username.
func TestKnownAddressGoesFirst(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) {
		o.Passwords, o.Settings.Users.Queue = secret.DefaultArgon2Params(), secret.QueueLimits{MaxLength: 4}
	})
	p.CreateUser(t, "owner", model.RoleAdmin)
	p.SignInFrom(t, "owner", officeAddress)
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer cancel()
	var full atomic.Bool
	for i := range 20 {
		flood.Go(func() {
			for ctx.Err() == nil {
				_, err := p.Users.SignIn(ctx, auth.SignInDraft{Name: rand.Text(), Password: "wrong", Address: fmt.Sprintf("203.0.113.%d", i)})
				if signInErr, ok := errors.AsType[*auth.SignInError](err); ok && signInErr.Reason != auth.WrongPassword {
					full.Store(true)
					time.Sleep(time.Millisecond) // let other goroutines run while the queue is full
				}
			}
		})
	}
	vaulttest.Eventually(t, "the queue is full", full.Load)
	for i, tt := range []struct {
		name, user, password string
		want                 auth.Reason
	}{
		{"known user", "owner", vaulttest.GoodPassword, ""},
		{"wrong password", "owner", "wrong password", auth.WrongPassword},
		{"unknown user", "no one", "wrong password", auth.WrongPassword},
	} {
		before := p.Users.HashRuns()
		_, err := p.TrySignIn(t, tt.user, tt.password, "", officeAddress)
		if runs := p.Users.HashRuns() - before; runs > 6 {
			t.Errorf("%s: the server checked %d passwords, want at most 6: two in progress, and two at a time", tt.name, runs)
		}
		if signInErr, _ := errors.AsType[*auth.SignInError](err); (err == nil) != (tt.want == "") || err != nil && signInErr.Reason != tt.want {
			t.Errorf("attempt %d, %s: got %v, want reason %q", i, tt.name, err, tt.want)
		}
	}
}

func TestKnownAddressesKeepOnlyTheLatest(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	created := p.CreateUser(t, "owner", model.RoleAdmin)
	for i := range 30 {
		p.SignInFrom(t, "owner", fmt.Sprintf("203.0.113.%d", i))
		p.SignInFrom(t, "owner", fmt.Sprintf("203.0.113.%d", i)) // the address is already known at the second sign-in
		p.Clock.Advance(time.Minute)
	}
	user, err := p.Users.Get(t.Context(), created.ID)
	if err != nil {
		t.Fatalf("get user: %v", err)
	}
	if len(user.KnownAddresses) != auth.MaxKnownAddresses || user.KnownAddresses[0].Network != "203.0.113.29" {
		t.Errorf("got %d addresses, the first %+v; want %d, the first 203.0.113.29",
			len(user.KnownAddresses), user.KnownAddresses[0], auth.MaxKnownAddresses)
	}
}
