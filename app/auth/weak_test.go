package auth_test

import (
	"testing"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Wherever a password is chosen, one that is easy to guess is refused, with what to do.
func TestWeakPasswords(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, func(o *instance.Options) { o.Settings.Users.Host = "vault.smithtitle.example" })
	first, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.CreateUser(t, "owner", model.RoleAdmin)
	invited, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "Kimberly Lee", Role: model.RoleStaff})
	if err != nil {
		t.Fatal(err)
	}
	actor := p.Actor(t, "owner")
	const want = "This password is too easy to guess. Choose four or more words that don't belong together, or a longer mix of letters, digits, and marks, without names and dates."
	weak := func(where, password string, err error) {
		t.Helper()
		vaulttest.WantKind(t, where+": "+password, err, errs.Invalid)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %q: got %v, want %s", where, password, err, want)
		}
	}
	for _, password := range []string{"1q2w3e4r5t", "Kimberly Lee", "kimberly2026!", "SmithTitle-2026", "deedkeep123", "abababababab"} {
		_, _, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "Kimberly", Role: model.RoleStaff, Password: &password})
		weak("create", password, err)
		_, err = p.Users.Accept(t.Context(), invited, auth.AcceptDraft{Password: password})
		weak("join", password, err)
		if password != "Kimberly Lee" && password != "kimberly2026!" { // for another name they may do
			weak("own password", password, p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, password))
		}
	}
	if _, err = p.Users.Accept(t.Context(), invited, auth.AcceptDraft{Password: "correct horse battery staple 42"}); err != nil {
		t.Errorf("a phrase: %v", err)
	}
	reset, _, err := p.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Users.Accept(t.Context(), reset, auth.AcceptDraft{Password: "1q2w3e4r5t"})
	weak("reset", "1q2w3e4r5t", err)
	_, err = p.Users.Invitation(t.Context(), first)
	vaulttest.WantKind(t, "the first link", err, errs.NotFound) // there is an administrator
}

// The first administrator's password is judged too; passwords from before keep working.
func TestWeakPasswordsOfBefore(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	first, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Users.Accept(t.Context(), first, auth.AcceptDraft{Name: "owner", Password: "1q2w3e4r5t"})
	vaulttest.WantKind(t, "the first administrator", err, errs.Invalid)
	user := p.CreateUser(t, "owner", model.RoleAdmin)
	hash, err := p.Users.Rehash(t.Context(), "1q2w3e4r5t")
	if err != nil {
		t.Fatal(err)
	}
	user.Password = hash
	p.Put(t, user)
	if _, err := p.TrySignIn(t, "owner", "1q2w3e4r5t", "", "192.0.2.1"); err != nil {
		t.Errorf("a password from before: %v", err)
	}
}
