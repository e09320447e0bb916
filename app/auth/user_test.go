package auth_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// cheapHash is that of goodPassword at a cost nobody would choose.
const cheapHash = "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$mDdsHo18I7BuGQe1bLGBTxxivOgWaUf+9dxbsBI/3Ww"

// tooMany is how long a refusal for too many tries wants one to wait; 0 for all else.
func tooMany(err error) time.Duration {
	if r, ok := errors.AsType[*auth.SignInError](err); ok && r.Reason == auth.TooManyAttempts {
		return r.Wait
	}
	return 0
}

func TestUserCreate(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	token, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: " Kim Lee ", Role: model.RoleStaff})
	if err != nil || len(token) != 43 || user.Name != "Kim Lee" || user.ID != 1 || user.CanSignIn() || !user.PasswordLink.Active(p.Clock.Now()) {
		t.Fatalf("%q, %+v, %v", token, user, err)
	}
	short := "too short"
	for _, row := range []struct {
		name  string
		draft model.UserDraft
		field string
	}{
		{"name taken", model.UserDraft{Name: "KIM lee", Role: model.RoleAdmin}, "name"},
		{"no name", model.UserDraft{Name: " ", Role: model.RoleAdmin}, "name"},
		{"no role", model.UserDraft{Name: "x"}, "role"},
		{"no such role", model.UserDraft{Name: "x", Role: "owner"}, "role"},
		{"short password", model.UserDraft{Name: "x", Role: model.RoleAdmin, Password: &short}, "password"},
	} {
		_, _, err := p.Users.Create(t.Context(), vaulttest.Operator, row.draft)
		named, ok := errors.AsType[*errs.Error](err)
		if !ok || named.Kind != errs.Invalid || named.Fields[0].Field != row.field {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if list, err := p.Users.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestUserJoins(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	token, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "kim", Role: model.RoleStaff})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.TrySignIn(t, "kim", "", "", "192.0.2.1")
	vaulttest.WantSignInError(t, "before a password was chosen", err, auth.WrongPassword)
	in, err := p.Users.Invitation(t.Context(), token)
	if err != nil || in != (auth.Invitation{Name: "kim"}) {
		t.Errorf("%+v, %v", in, err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: "kim kim kim"})
	vaulttest.WantKind(t, "its own name", err, errs.Invalid)
	if _, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Name: "ignored", Password: vaulttest.GoodPassword}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword})
	vaulttest.WantKind(t, "a second time", err, errs.NotFound)
	if actor := p.Actor(t, "kim"); actor.ID != user.ID || actor.Name != "kim" || actor.Role != model.RoleStaff {
		t.Errorf("%+v", actor)
	}
}

// A link ends after 24 hours, when another is made, and when its user is disabled.
func TestUserLinkEnds(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	token, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "kim", Role: model.RoleStaff})
	if err != nil {
		t.Fatal(err)
	}
	works := func(what, token string, want bool) {
		t.Helper()
		if _, err := p.Users.Invitation(t.Context(), token); (err == nil) != want {
			t.Errorf("%s: %v", what, err)
		}
	}
	works("new", token, true)
	works("cut", token[1:], false)
	works("none", "", false)
	second, _, err := p.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	works("after another", token, false)
	p.Clock.Advance(24*time.Hour - time.Second)
	works("just in time", second, true)
	p.Clock.Advance(time.Second)
	works("too late", second, false)
	third, _, err := p.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, user.ID); err != nil {
		t.Fatal(err)
	}
	works("of a disabled user", third, false)
	_, _, err = p.Users.Reset(t.Context(), vaulttest.Operator, user.ID)
	vaulttest.WantKind(t, "reset while disabled", err, errs.Conflict)
	if _, err := p.Users.Enable(t.Context(), vaulttest.Operator, user.ID); err != nil {
		t.Fatal(err)
	}
	works("after enabling again", third, false)
}

func TestFirstAdministrator(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	one, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Users.Invitation(t.Context(), one)
	vaulttest.WantKind(t, "the link before", err, errs.NotFound)
	if in, err := p.Users.Invitation(t.Context(), token); err != nil || !in.First || in.Name != "" {
		t.Errorf("%+v, %v", in, err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword})
	vaulttest.WantKind(t, "no name", err, errs.Invalid)
	// Two who have the link at the same time: one gets in.
	done := make(chan error)
	for _, name := range []string{"kim", "lee"} {
		go func() {
			_, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Name: name, Password: vaulttest.GoodPassword})
			done <- err
		}()
	}
	first, second := <-done, <-done
	if (first == nil) == (second == nil) {
		t.Errorf("%v, %v", first, second)
	}
	list, err := p.Users.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Role != model.RoleAdmin {
		t.Fatalf("%+v, %v", list, err)
	}
	p.Actor(t, list[0].Name)
	_, err = p.Users.NewFirstLink(t.Context())
	vaulttest.WantKind(t, "with an administrator", err, errs.Conflict)
}

func TestLastAdministratorStays(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	for what, do := range map[string]func() error{
		"disabled": func() error { _, err := p.Users.Disable(t.Context(), vaulttest.Operator, kim.ID); return err },
		"demoted": func() error {
			_, err := p.Users.SetRole(t.Context(), vaulttest.Operator, kim.ID, model.RoleStaff)
			return err
		},
	} {
		vaulttest.WantKind(t, what, do(), errs.Conflict)
		// One who has no password yet does not count.
		_, other, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: what, Role: model.RoleAdmin})
		if err != nil {
			t.Fatal(err)
		}
		vaulttest.WantKind(t, what+", another invited", do(), errs.Conflict)
		if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, other.ID); err != nil {
			t.Error(err)
		}
	}
	lee := p.CreateUser(t, "lee", model.RoleAdmin)
	actor := p.Actor(t, "kim")
	if _, err := p.Users.SetRole(t.Context(), actor, kim.ID, model.RoleViewer); err != nil {
		t.Error(err)
	}
	_, err := p.Users.Disable(t.Context(), actor, lee.ID)
	vaulttest.WantKind(t, "by one who is no administrator any more", err, errs.Forbidden)
	_, err = p.Users.Disable(t.Context(), vaulttest.Operator, lee.ID)
	vaulttest.WantKind(t, "now the last", err, errs.Conflict)
}

// Two administrators who disable each other at the same time: one stays.
func TestAdministratorsAtOnce(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	one, other := p.CreateUser(t, "one", model.RoleAdmin), p.CreateUser(t, "other", model.RoleAdmin)
	done := make(chan error)
	for _, id := range []uint64{one.ID, other.ID} {
		go func() { _, err := p.Users.Disable(t.Context(), vaulttest.Operator, id); done <- err }()
	}
	if a, b := <-done, <-done; (a == nil) == (b == nil) {
		t.Errorf("%v, %v", a, b)
	}
}

func TestWhoMayAdminister(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	p.CreateUser(t, "staff", model.RoleStaff)
	target := p.CreateUser(t, "viewer", model.RoleViewer)
	_, key := vaulttest.CreateKey(t, p.Instance, model.KeyDraft{})
	for who, row := range map[string]struct {
		actor model.Actor
		want  errs.Kind
	}{
		"staff":      {p.Actor(t, "staff"), errs.Forbidden},
		"viewer":     {p.Actor(t, "viewer"), errs.Forbidden},
		"key":        {model.Actor{Kind: model.ActorKey, ID: key.ID}, errs.Forbidden},
		"no session": {model.Actor{Kind: model.ActorUser, ID: 1, Role: model.RoleAdmin}, errs.Unauthenticated},
		"another's":  {model.Actor{Kind: model.ActorUser, ID: 1, Session: p.Actor(t, "staff").Session}, errs.Unauthenticated},
	} {
		for what, do := range map[string]func() error{
			"create": func() error {
				_, _, err := p.Users.Create(t.Context(), row.actor, model.UserDraft{Name: "new", Role: model.RoleAdmin})
				return err
			},
			"role": func() error {
				_, err := p.Users.SetRole(t.Context(), row.actor, target.ID, model.RoleAdmin)
				return err
			},
			"new key": func() error {
				_, _, err := p.Keys.Create(t.Context(), row.actor, model.KeyDraft{Name: "mine"})
				return err
			},
			"end a key": func() error { _, err := p.Keys.Revoke(t.Context(), row.actor, key.ID); return err },
			"new for a key": func() error {
				_, _, err := p.Keys.Rotate(t.Context(), row.actor, key.ID, 0)
				return err
			},
			"rename":  func() error { _, err := p.Users.Rename(t.Context(), row.actor, target.ID, "new"); return err },
			"disable": func() error { _, err := p.Users.Disable(t.Context(), row.actor, target.ID); return err },
			"enable":  func() error { _, err := p.Users.Enable(t.Context(), row.actor, target.ID); return err },
			"reset":   func() error { _, _, err := p.Users.Reset(t.Context(), row.actor, target.ID); return err },
			"templates": func() error {
				_, err := p.Templates.Import(t.Context(), row.actor, []model.TemplateDraft{{Name: "new"}}, false)
				return err
			},
			"templates, dry": func() error {
				_, err := p.Templates.Import(t.Context(), row.actor, nil, true)
				return err
			},
			"default template": func() error { _, err := p.Templates.SetDefault(t.Context(), row.actor, 2); return err },
			"retire":           func() error { _, err := p.Templates.Retire(t.Context(), row.actor, 2); return err },
			"fields": func() error {
				_, err := p.Orders.ImportFields(t.Context(), row.actor, []model.Field{{Key: "x", Label: "X", Type: "text"}}, false)
				return err
			},
			"statuses": func() error {
				_, err := p.Orders.ImportStatuses(t.Context(), row.actor, []string{"one"}, false)
				return err
			},
			"repair": func() error { _, err := p.Integrity.Repair(t.Context(), row.actor, func(int, int) {}); return err },
			"backup": func() error {
				_, err := p.Backups.Create(t.Context(), row.actor, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {})
				return err
			},
		} {
			vaulttest.WantKind(t, who+" "+what, do(), row.want)
		}
	}
	if _, err := p.Users.Rename(t.Context(), p.Actor(t, "admin"), target.ID, "renamed"); err != nil {
		t.Error(err)
	}
	p.Actor(t, "RENAMED")
	_, err := p.Users.Rename(t.Context(), vaulttest.Operator, target.ID, "Staff")
	vaulttest.WantKind(t, "taken name", err, errs.Invalid)
	_, err = p.Users.Rename(t.Context(), vaulttest.Operator, 99, "x")
	vaulttest.WantKind(t, "unknown user", err, errs.NotFound)
}

// A write is judged in its transaction: a role, a user or a session that ended while
// documents arrived stops it.
func TestWritesAreLookedAtOnceMore(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	admin := p.CreateUser(t, "admin", model.RoleAdmin)
	kim := p.CreateUser(t, "kim", model.RoleStaff)
	order := func(actor model.Actor) error {
		_, err := p.Orders.Create(t.Context(), actor, model.OrderDraft{Number: model.StringInput("2026-1")}, vault.Idempotency[model.Order]{})
		return err
	}
	actor := p.Actor(t, "kim")
	if err := order(actor); err != nil {
		t.Fatal(err)
	}
	must := func(_ model.User, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Users.SetRole(t.Context(), vaulttest.Operator, kim.ID, model.RoleViewer))
	vaulttest.WantKind(t, "as a viewer", order(actor), errs.Forbidden)
	must(p.Users.SetRole(t.Context(), vaulttest.Operator, kim.ID, model.RoleAdmin))
	if err := order(actor); err != nil {
		t.Error(err)
	}
	must(p.Users.Disable(t.Context(), vaulttest.Operator, kim.ID))
	vaulttest.WantKind(t, "disabled", order(actor), errs.Unauthenticated)
	must(p.Users.Enable(t.Context(), vaulttest.Operator, kim.ID))
	vaulttest.WantKind(t, "enabled again, the session is gone", order(actor), errs.Unauthenticated)
	in := p.SignIn(t, "kim")
	actor = p.Authenticate(t, in.Token)
	if err := p.Sessions.SignOut(t.Context(), in.Token, ""); err != nil {
		t.Fatal(err)
	}
	vaulttest.WantKind(t, "signed out", order(actor), errs.Unauthenticated)
	actor = p.Actor(t, "kim")
	p.Clock.Advance(12 * time.Hour)
	vaulttest.WantKind(t, "idle", order(actor), errs.Unauthenticated)
	actor = p.Actor(t, "kim")
	actor.ID = admin.ID
	vaulttest.WantKind(t, "under another's number", order(actor), errs.Unauthenticated)
}

func TestReset(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	kim := p.CreateUser(t, "kim", model.RoleStaff)
	in := p.SignIn(t, "kim")
	p.EnableTwoFactor(t, p.Authenticate(t, in.Token))
	token, user, err := p.Users.Reset(t.Context(), vaulttest.Operator, kim.ID)
	if err != nil || user.TwoFactor != nil || user.Password != "" {
		t.Fatalf("%+v, %v", user, err)
	}
	p.WantSignedOut(t, "after a reset", in.Token)
	_, err = p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "the old password", err, auth.WrongPassword)
	if in, err := p.Users.Invitation(t.Context(), token); err != nil || !in.Reset {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword + "!"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword+"!", "", "192.0.2.1"); err != nil {
		t.Error(err)
	}
}
