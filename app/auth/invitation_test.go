package auth_test

import (
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

func TestInvitationAccept(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	token, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "kim", Role: model.RoleStaff})
	if err != nil {
		t.Fatalf("create user: %v", err)
	}
	_, err = p.TrySignIn(t, "kim", "", "", "192.0.2.1")
	vaulttest.WantSignInError(t, "sign in without a password", err, auth.WrongPassword)
	want := auth.Invitation{Name: "kim"}
	if got, err := p.Users.Invitation(t.Context(), token); err != nil || got != want {
		t.Errorf("Invitation() = %+v, %v; want %+v", got, err, want)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: "kim kim kim"})
	vaulttest.WantKind(t, "password made of the name", err, errs.Invalid)
	if _, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Name: "ignored", Password: vaulttest.GoodPassword}); err != nil {
		t.Fatalf("accept invitation: %v", err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword})
	vaulttest.WantKind(t, "accept a second time", err, errs.NotFound)
	if actor := p.Actor(t, "kim"); actor.ID != user.ID || actor.Name != "kim" || actor.Role != model.RoleStaff {
		t.Errorf("signed in as %+v, want kim with ID %d and role %q", actor, user.ID, model.RoleStaff)
	}
}

// A link expires after 24 hours. It becomes invalid earlier if another link is created or
// its user is disabled.
func TestInvitationExpires(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	first, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "kim", Role: model.RoleStaff})
	if err != nil {
		t.Fatalf("create user: %v", err)
	}
	wantValid := func(name, token string, want bool) {
		t.Helper()
		if _, err := p.Users.Invitation(t.Context(), token); (err == nil) != want {
			t.Errorf("%s: got %v, want a valid link: %v", name, err, want)
		}
	}
	reset := func() string {
		t.Helper()
		token, _, err := p.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
		if err != nil {
			t.Fatalf("reset user: %v", err)
		}
		return token
	}
	wantValid("new link", first, true)
	wantValid("truncated token", first[1:], false)
	wantValid("empty token", "", false)
	second := reset()
	wantValid("link replaced by another", first, false)
	p.Clock.Advance(24*time.Hour - time.Second)
	wantValid("one second before expiration", second, true)
	p.Clock.Advance(time.Second)
	wantValid("expired link", second, false)
	third := reset()
	if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, user.ID); err != nil {
		t.Fatalf("disable user: %v", err)
	}
	wantValid("link of a disabled user", third, false)
	_, _, err = p.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
	vaulttest.WantKind(t, "reset a disabled user", err, errs.Conflict)
	if _, err := p.Users.Enable(t.Context(), vaulttest.Operator, user.ID); err != nil {
		t.Fatalf("enable user: %v", err)
	}
	wantValid("link from before the user was disabled", third, false)
}

func TestFirstLink(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	replaced, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("create the first link: %v", err)
	}
	token, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("create another first link: %v", err)
	}
	_, err = p.Users.Invitation(t.Context(), replaced)
	vaulttest.WantKind(t, "replaced link", err, errs.NotFound)
	if in, err := p.Users.Invitation(t.Context(), token); err != nil || !in.First || in.Name != "" {
		t.Errorf("Invitation() = %+v, %v; want the first link without a name", in, err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword})
	vaulttest.WantKind(t, "accept without a name", err, errs.Invalid)
	// If two clients use the same link at the same time, one succeeds.
	done := make(chan error)
	for _, name := range []string{"kim", "lee"} {
		go func() {
			_, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Name: name, Password: vaulttest.GoodPassword})
			done <- err
		}()
	}
	if err1, err2 := <-done, <-done; (err1 == nil) == (err2 == nil) {
		t.Errorf("concurrent Accept(): got %v and %v, want one success", err1, err2)
	}
	list, err := p.Users.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Role != model.RoleAdmin {
		t.Fatalf("List() = %+v, %v; want one administrator", list, err)
	}
	p.Actor(t, list[0].Name)
	_, err = p.Users.NewFirstLink(t.Context())
	vaulttest.WantKind(t, "first link after an administrator exists", err, errs.Conflict)
}

// HasAdmin reports true once an administrator has set a password.
func TestHasAdmin(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	wantAdmin := func(want bool) {
		t.Helper()
		if got, err := p.Users.HasAdmin(t.Context()); err != nil || got != want {
			t.Errorf("HasAdmin() = %v, %v; want %v", got, err, want)
		}
	}
	wantAdmin(false)
	p.CreateUser(t, "viewer", model.RoleViewer)
	wantAdmin(false)
	token, _, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "owner", Role: model.RoleAdmin})
	if err != nil {
		t.Fatalf("create user: %v", err)
	}
	wantAdmin(false)
	if _, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword}); err != nil {
		t.Fatalf("accept invitation: %v", err)
	}
	wantAdmin(true)
}
