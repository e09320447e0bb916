package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vaulttest"
)

// cheapHash is a hash of vaulttest.GoodPassword with the parameters m=64,t=1,p=1, which
// are fast in tests but too weak for production.
const cheapHash = "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$mDdsHo18I7BuGQe1bLGBTxxivOgWaUf+9dxbsBI/3Ww"

func TestChangePassword(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "kim", model.RoleAdmin)
	other := p.SignIn(t, "kim")
	current := p.SignIn(t, "kim")
	actor := p.Authenticate(t, current.Token)
	actor.Address = "192.0.2.50"
	const replacement = "another good one of mine"
	change := func(password, replacement string) error {
		return p.Users.ChangePassword(t.Context(), actor, password, replacement)
	}
	vaulttest.WantKind(t, "wrong current password", change("wrong password", replacement), errs.Invalid)
	vaulttest.WantKind(t, "new password too short", change(vaulttest.GoodPassword, "short"), errs.Invalid)
	if err := change(vaulttest.GoodPassword, replacement); err != nil {
		t.Fatalf("change password: %v", err)
	}
	p.Authenticate(t, current.Token)
	p.WantSignedOut(t, "other session", other.Token)
	_, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "old password", err, auth.WrongPassword)
	if _, err := p.TrySignIn(t, "kim", replacement, "", "192.0.2.1"); err != nil {
		t.Errorf("sign in with the new password: %v", err)
	}
	// A stolen session can't be used to guess the password.
	for range 2 {
		vaulttest.WantKind(t, "wrong current password again", change("wrong password", replacement), errs.Invalid)
	}
	vaulttest.WantSignInError(t, "one more wrong password", change("wrong password", replacement), auth.TooManyAttempts)
}

// A hash with outdated parameters is replaced at the next sign-in. The password keeps
// working.
func TestSignInUpgradesHash(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Passwords = secret.DefaultArgon2Params() })
	user := p.CreateUser(t, "kim", model.RoleAdmin)
	user.Password = cheapHash
	p.PutUser(t, user)
	for range 2 {
		p.SignIn(t, "kim")
	}
	user, err := p.Users.Get(t.Context(), user.ID)
	if want := "m=19456,t=2,p=1"; err != nil || user.Password == cheapHash || !strings.Contains(user.Password, want) {
		t.Errorf("hash after sign-in = %s, %v; want a new one with %s", user.Password, err, want)
	}
	passwords := secret.NewPasswords(nil, secret.DefaultArgon2Params(), secret.QueueLimits{})
	if _, stale, err := passwords.Verify(t.Context(), secret.Requester{}, user.Password, vaulttest.GoodPassword); stale || err != nil {
		t.Errorf("Verify() with the new hash: stale %v, error %v; want false, nil", stale, err)
	}
}

// If the queue of password checks is full, sign-in succeeds without upgrading the hash,
// but creating a user fails because the server is too busy.
func TestPasswordQueueIsFull(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) {
		o.Passwords, o.Settings.Users.Queue = secret.DefaultArgon2Params(), secret.QueueLimits{MaxLength: 8}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range 20 { // all share their turns with those who create users on this machine
		wg.Go(func() {
			for ctx.Err() == nil {
				if p.Users.VerifyTrusted(ctx) != nil {
					time.Sleep(time.Millisecond) // let other goroutines run while the queue is full
				}
			}
		})
	}
	vaulttest.Eventually(t, "creating a user is rejected because the queue is full", func() bool {
		password := vaulttest.GoodPassword
		// A request that enters the queue waits for all requests ahead of it, so limit
		// the wait.
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, _, err := p.Users.Create(ctx, vaulttest.Operator, model.UserDraft{Name: rand.Text(), Role: model.RoleAdmin, Password: &password})
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			return false
		}
		vaulttest.WantSignInError(t, "create a user", err, auth.TooBusy)
		return true
	})
	vaulttest.Eventually(t, "the hash is not upgraded because the queue is full", func() bool {
		hash, err := p.Users.Rehash(t.Context(), vaulttest.GoodPassword)
		if err != nil {
			t.Errorf("rehash: %v", err)
		}
		return hash == ""
	})
}

// Every operation that sets a password rejects a password that is easy to guess, and
// explains how to choose a better one.
func TestWeakPasswordIsRejected(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Settings.Users.Host = "vault.smithtitle.example" })
	first, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("create the first link: %v", err)
	}
	p.CreateUser(t, "owner", model.RoleAdmin)
	invited, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "Kimberly Lee", Role: model.RoleStaff})
	if err != nil {
		t.Fatalf("create user: %v", err)
	}
	actor := p.Actor(t, "owner")
	const want = "This password is too easy to guess. Use four or more unrelated words, " +
		"or a longer mix of letters, digits, and symbols. Avoid names and dates."
	wantWeak := func(t *testing.T, operation, password string, err error) {
		t.Helper()
		vaulttest.WantKind(t, operation+": "+password, err, errs.Invalid)
		if err == nil || err.Error() != want {
			t.Errorf("%s with %q: got %v, want %s", operation, password, err, want)
		}
	}
	for _, password := range []string{"1q2w3e4r5t", "Kimberly Lee", "kimberly2026!", "SmithTitle-2026", "deedkeep123", "abababababab"} {
		t.Run(password, func(t *testing.T) {
			draft := model.UserDraft{Name: "Kimberly", Role: model.RoleStaff, Password: &password}
			_, _, err := p.Users.Create(t.Context(), vaulttest.Operator, draft)
			wantWeak(t, "create", password, err)
			_, err = p.Users.Accept(t.Context(), invited, auth.AcceptDraft{Password: password})
			wantWeak(t, "accept", password, err)
			if password != "Kimberly Lee" && password != "kimberly2026!" { // these two are weak only for a user with that name
				wantWeak(t, "change", password, p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, password))
			}
		})
	}
	if _, err = p.Users.Accept(t.Context(), invited, auth.AcceptDraft{Password: "correct horse battery staple 42"}); err != nil {
		t.Errorf("accept with a passphrase: %v", err)
	}
	reset, _, err := p.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
	if err != nil {
		t.Fatalf("reset user: %v", err)
	}
	_, err = p.Users.Accept(t.Context(), reset, auth.AcceptDraft{Password: "1q2w3e4r5t"})
	wantWeak(t, "reset", "1q2w3e4r5t", err)
	_, err = p.Users.Invitation(t.Context(), first)
	vaulttest.WantKind(t, "first link after an administrator exists", err, errs.NotFound)
}

// The password of the first administrator is checked, too. Weak passwords that were set
// in an earlier version keep working.
func TestExistingWeakPasswordWorks(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	first, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("create the first link: %v", err)
	}
	_, err = p.Users.Accept(t.Context(), first, auth.AcceptDraft{Name: "owner", Password: "1q2w3e4r5t"})
	vaulttest.WantKind(t, "weak password of the first administrator", err, errs.Invalid)
	user := p.CreateUser(t, "owner", model.RoleAdmin)
	hash, err := p.Users.Rehash(t.Context(), "1q2w3e4r5t")
	if err != nil {
		t.Fatalf("rehash: %v", err)
	}
	user.Password = hash
	p.PutUser(t, user)
	if _, err := p.TrySignIn(t, "owner", "1q2w3e4r5t", "", "192.0.2.1"); err != nil {
		t.Errorf("sign in with an existing weak password: %v", err)
	}
}
