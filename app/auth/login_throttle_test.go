package auth_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// retryWait returns the wait time if err reports too many attempts, or 0 for any other
// error.
func retryWait(err error) time.Duration {
	if r, ok := errors.AsType[*auth.SignInError](err); ok && r.Reason == auth.TooManyAttempts {
		return r.Wait
	}
	return 0
}

func TestSignInResistsGuessing(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	start, attempts := p.Clock.Now(), 0
	var waits []time.Duration
	for p.Clock.Now().Sub(start) < 15*time.Minute {
		before := p.Users.HashRuns()
		_, err := p.TrySignIn(t, "Owner", "wrong password", "", "203.0.113.9")
		if wait := retryWait(err); wait > 0 {
			if runs := p.Users.HashRuns() - before; runs != 0 {
				t.Fatalf("throttled attempt: argon2 ran %d times, want 0", runs)
			}
			if wait != wait.Truncate(time.Second) {
				t.Fatalf("wait = %s, want full seconds", wait)
			}
			waits = append(waits, wait)
			p.Clock.Advance(wait)
			continue
		}
		vaulttest.WantSignInError(t, "wrong password", err, auth.WrongPassword)
		attempts++
	}
	if attempts != 10 {
		t.Errorf("attempts in 15 minutes = %d, want 10", attempts)
	}
	if !slices.IsSorted(waits) {
		t.Errorf("waits = %v, want increasing waits", waits)
	}
	// An attacker can't lock the account's owner out, because the password still works
	// from another address.
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "192.0.2.1"); err != nil {
		t.Errorf("sign in from another address: %v", err)
	}
}

// While an account is throttled, the right password gets the same response as a wrong one.
func TestSignInWhileThrottled(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	for range 3 {
		_, err := p.TrySignIn(t, "owner", "wrong password", "", "203.0.113.9")
		vaulttest.WantSignInError(t, "wrong password", err, auth.WrongPassword)
	}
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "203.0.113.9")
	vaulttest.WantSignInError(t, "right password too early", err, auth.TooManyAttempts)
	p.Clock.Advance(retryWait(err))
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "203.0.113.9"); err != nil {
		t.Errorf("sign in after the wait: %v", err)
	}
	// A successful sign-in resets the counter.
	for range 3 {
		_, err := p.TrySignIn(t, "owner", "wrong password", "", "203.0.113.9")
		vaulttest.WantSignInError(t, "wrong password after a success", err, auth.WrongPassword)
	}
}

func TestSignInAddressLimit(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	// Successful sign-ins don't count toward the limit of an address that an office
	// shares.
	for range 70 {
		p.SignIn(t, "owner")
	}
	throttled := 0
	for i := range 70 {
		_, err := p.TrySignIn(t, fmt.Sprintf("name %d", i), "wrong password", "", fmt.Sprintf("2001:db8::%x", i))
		if retryWait(err) > 0 {
			throttled++
		}
	}
	if throttled != 10 {
		t.Errorf("throttled attempts of 70 = %d, want 10", throttled)
	}
	_, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "2001:db8::ffff")
	vaulttest.WantSignInError(t, "same network", err, auth.TooManyAttempts)
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "2001:db8:0:1::1"); err != nil {
		t.Errorf("sign in from another network: %v", err)
	}
}

// Concurrent attempts from one address can't bypass the limit.
func TestSignInConcurrentAttempts(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "owner", model.RoleAdmin)
	before := p.Users.HashRuns()
	done := make(chan error)
	for range 30 {
		go func() {
			draft := auth.SignInDraft{Name: "owner", Password: "wrong password", Address: "203.0.113.9"}
			_, err := p.Users.SignIn(context.Background(), draft)
			done <- err
		}()
	}
	for range 30 {
		if err := <-done; errs.KindOf(err) != errs.Unauthenticated {
			t.Errorf("concurrent sign-in: got %v, want kind %d", err, errs.Unauthenticated)
		}
	}
	if runs := p.Users.HashRuns() - before; runs > 3 {
		t.Errorf("passwords checked = %d, want at most 3", runs)
	}
}

// The number of counters is limited, and counters with few attempts are evicted first.
// This means that an attacker can't clear an account's counter by filling the memory.
func TestThrottleCountersAreLimited(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	user := p.CreateUser(t, "kim", model.RoleAdmin)
	user.Password = cheapHash
	p.PutUser(t, user)
	for range 3 {
		_, err := p.TrySignIn(t, "kim", "wrong password", "", "203.0.113.9")
		vaulttest.WantSignInError(t, "wrong password", err, auth.WrongPassword)
	}
	for i := range 25_000 {
		p.Users.CountAttempt(fmt.Sprintf("name %d", i), fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
		if n := p.Users.ThrottleKeys(); n > 20_002 {
			t.Fatalf("counters after %d names = %d, want at most 20,002", i+1, n)
		}
	}
	_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "203.0.113.9")
	vaulttest.WantSignInError(t, "after 25,000 other names", err, auth.TooManyAttempts)
	p.Clock.Advance(time.Hour)
	p.Users.CountAttempt("later", "10.0.0.1")
	p.Clock.Advance(-2 * time.Hour) // a user must not be locked out because the clock was set back
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "203.0.113.9"); err != nil {
		t.Errorf("sign in after the clock was set back: %v", err)
	}
}

func TestSignInErrorStatesTheWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wait time.Duration
		want string
	}{
		{time.Second, "1 second"}, {8 * time.Second, "8 seconds"}, {90 * time.Second, "90 seconds"},
		{91 * time.Second, "2 minutes"}, {15 * time.Minute, "15 minutes"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			err := &auth.SignInError{Reason: auth.TooManyAttempts, Wait: tt.wait}
			if got, want := err.Error(), "Too many sign-in attempts. Try again in "+tt.want+"."; got != want {
				t.Errorf("Error() for %s = %q, want %q", tt.wait, got, want)
			}
		})
	}
}
