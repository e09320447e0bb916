package auth_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/vaulttest"
)

// Each failed sign-in runs Argon2 exactly once, even if the username is unknown,
// disabled, or has no password. This way, the response time doesn't reveal which
// usernames exist.
func TestFailedSignInRunsArgon2Once(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	p.CreateUser(t, "known", model.RoleStaff)
	disabled := p.CreateUser(t, "disabled", model.RoleStaff)
	if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, disabled.ID); err != nil {
		t.Fatalf("disable user: %v", err)
	}
	draft := model.UserDraft{Name: "invited", Role: model.RoleStaff}
	if _, _, err := p.Users.Create(t.Context(), vaulttest.Operator, draft); err != nil {
		t.Fatalf("create user: %v", err)
	}
	for i, tt := range []struct{ name, user, password string }{
		{"known user", "known", "wrong password"},
		{"unknown user", "unknown", "wrong password"},
		{"disabled user", "disabled", vaulttest.GoodPassword},
		{"user without a password", "invited", ""},
		{"empty name and password", "", ""},
		{"known user, long password", "known", strings.Repeat("x", 2000)},
		{"unknown user, long password", "unknown", strings.Repeat("x", 2000)},
		{"invalid UTF-8", "\xff\x00", "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := p.Users.HashRuns()
			_, err := p.TrySignIn(t, tt.user, tt.password, "", fmt.Sprintf("192.0.2.%d", i))
			vaulttest.WantSignInError(t, tt.name, err, auth.WrongPassword)
			if runs := p.Users.HashRuns() - before; runs != 1 {
				t.Errorf("argon2 ran %d times, want 1", runs)
			}
			if want := "Incorrect username or password."; err.Error() != want {
				t.Errorf("error = %q, want %q", err, want)
			}
		})
	}
}

// While 200 addresses sign in at the same time, a user's sign-in waits in the queue and
// succeeds.
func TestSignInUnderLoad(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Passwords = secret.Argon2Params{Memory: 1024, Passes: 2, Lanes: 1} })
	p.CreateUser(t, "owner", model.RoleAdmin)
	var wg sync.WaitGroup
	before := p.Users.HashRuns()
	for i := range 200 {
		wg.Go(func() {
			draft := auth.SignInDraft{Name: "x", Password: "wrong password", Address: fmt.Sprintf("198.51.100.%d", i)}
			_, err := p.Users.SignIn(context.Background(), draft)
			vaulttest.WantSignInError(t, "one of 200 clients", err, auth.WrongPassword)
		})
	}
	vaulttest.Eventually(t, "the first password is checked", func() bool { return p.Users.HashRuns() > before })
	if _, err := p.TrySignIn(t, "owner", vaulttest.GoodPassword, "", "192.0.2.1"); err != nil {
		t.Errorf("sign in as the owner: %v", err)
	}
	wg.Wait()
}
