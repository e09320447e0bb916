package instance_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"deedkeep/app/auth"
	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/store"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const goodPassword = "a long walk to the courthouse"

// cheapHash is that of goodPassword at a cost nobody would choose.
const cheapHash = "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$mDdsHo18I7BuGQe1bLGBTxxivOgWaUf+9dxbsBI/3Ww"

// people is a vault with its clock, for tests about users.
type people struct {
	*instance.Instance
	clock *vaulttest.Clock
}

func peopled(t *testing.T, change func(*instance.Options)) *people {
	t.Helper()
	clock := vaulttest.NewClock()
	v, _ := opened(t, func(o *instance.Options) {
		o.Now = clock.Now
		if change != nil {
			change(o)
		}
	})
	return &people{v, clock}
}

// user makes one who can sign in.
func (p *people) user(t *testing.T, name string, role model.Role) model.User {
	t.Helper()
	password := goodPassword
	_, user, err := p.Users.Create(t.Context(), clerk, model.UserDraft{Name: name, Role: role, Password: &password})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// put writes a user as no verb would.
func (p *people) put(t *testing.T, user model.User) {
	t.Helper()
	if err := p.Store.Update(t.Context(), nil, func(tx *store.Tx) error { return tx.PutUser(user) }); err != nil {
		t.Fatal(err)
	}
}

func (p *people) try(t *testing.T, name, password, code, address string) (auth.SignedIn, error) {
	t.Helper()
	return p.Users.SignIn(t.Context(), auth.SignInDraft{Name: name, Password: password, Code: code, Address: address, Device: "Firefox on Windows"})
}

func (p *people) signIn(t *testing.T, name string) auth.SignedIn {
	t.Helper()
	in, err := p.try(t, name, goodPassword, "", "192.0.2.1")
	if err != nil {
		t.Fatalf("sign in %s: %v", name, err)
	}
	return in
}

// actor signs a user in.
func (p *people) actor(t *testing.T, name string) model.Actor {
	t.Helper()
	return p.speaks(t, p.signIn(t, name).Token)
}

func (p *people) speaks(t *testing.T, token string) model.Actor {
	t.Helper()
	actor, err := p.Sessions.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatalf("authenticate: %v", err)
	}
	return actor
}

func (p *people) silent(t *testing.T, what, token string) {
	t.Helper()
	_, err := p.Sessions.Authenticate(t.Context(), token)
	kind(t, what, err, errs.Unauthenticated)
}

// refused wants a refusal of SignIn for a reason.
func refused(t *testing.T, what string, err error, want auth.Reason) {
	t.Helper()
	r, ok := errors.AsType[*auth.SignInError](err)
	if !ok || r.Reason != want || errs.KindOf(err) != errs.Unauthenticated {
		t.Errorf("%s: %v, want reason %s", what, err, want)
	}
}

// tooMany is how long a refusal for too many tries wants one to wait; 0 for all else.
func tooMany(err error) time.Duration {
	if r, ok := errors.AsType[*auth.SignInError](err); ok && r.Reason == auth.TooManyAttempts {
		return r.Wait
	}
	return 0
}

func (p *people) code(t *testing.T, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, p.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// factor sets up a second factor.
func (p *people) factor(t *testing.T, actor model.Actor) (secret string, recovery []string) {
	t.Helper()
	offer, err := p.Users.BeginTwoFactor(t.Context(), actor, goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	recovery, err = p.Users.ConfirmTwoFactor(t.Context(), actor, p.code(t, offer.Secret))
	if err != nil || len(recovery) != 10 {
		t.Fatalf("%v, %v", recovery, err)
	}
	return offer.Secret, recovery
}

func TestUserCreate(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	token, user, err := p.Users.Create(t.Context(), clerk, model.UserDraft{Name: " Kim Lee ", Role: model.RoleStaff})
	if err != nil || len(token) != 43 || user.Name != "Kim Lee" || user.ID != 1 || user.CanSignIn() || !user.PasswordLink.Active(p.clock.Now()) {
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
		_, _, err := p.Users.Create(t.Context(), clerk, row.draft)
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
	p := peopled(t, nil)
	token, user, err := p.Users.Create(t.Context(), clerk, model.UserDraft{Name: "kim", Role: model.RoleStaff})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.try(t, "kim", "", "", "192.0.2.1")
	refused(t, "before a password was chosen", err, auth.WrongPassword)
	in, err := p.Users.Invitation(t.Context(), token)
	if err != nil || in != (auth.Invitation{Name: "kim"}) {
		t.Errorf("%+v, %v", in, err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: "kim kim kim"})
	kind(t, "its own name", err, errs.Invalid)
	if _, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Name: "ignored", Password: goodPassword}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: goodPassword})
	kind(t, "a second time", err, errs.NotFound)
	if actor := p.actor(t, "kim"); actor.ID != user.ID || actor.Name != "kim" || actor.Role != model.RoleStaff {
		t.Errorf("%+v", actor)
	}
}

// A link ends after 24 hours, when another is made, and when its user is disabled.
func TestUserLinkEnds(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "admin", model.RoleAdmin)
	token, user, err := p.Users.Create(t.Context(), clerk, model.UserDraft{Name: "kim", Role: model.RoleStaff})
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
	second, _, err := p.Users.Reset(t.Context(), clerk, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	works("after another", token, false)
	p.clock.Advance(24*time.Hour - time.Second)
	works("just in time", second, true)
	p.clock.Advance(time.Second)
	works("too late", second, false)
	third, _, err := p.Users.Reset(t.Context(), clerk, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Users.Disable(t.Context(), clerk, user.ID); err != nil {
		t.Fatal(err)
	}
	works("of a disabled user", third, false)
	_, _, err = p.Users.Reset(t.Context(), clerk, user.ID)
	kind(t, "reset while disabled", err, errs.Conflict)
	if _, err := p.Users.Enable(t.Context(), clerk, user.ID); err != nil {
		t.Fatal(err)
	}
	works("after enabling again", third, false)
}

func TestFirstAdministrator(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	one, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Users.Invitation(t.Context(), one)
	kind(t, "the link before", err, errs.NotFound)
	if in, err := p.Users.Invitation(t.Context(), token); err != nil || !in.First || in.Name != "" {
		t.Errorf("%+v, %v", in, err)
	}
	_, err = p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: goodPassword})
	kind(t, "no name", err, errs.Invalid)
	// Two who have the link at the same time: one gets in.
	done := make(chan error)
	for _, name := range []string{"kim", "lee"} {
		go func() {
			_, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Name: name, Password: goodPassword})
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
	p.actor(t, list[0].Name)
	_, err = p.Users.NewFirstLink(t.Context())
	kind(t, "with an administrator", err, errs.Conflict)
}

func TestLastAdministratorStays(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	kim := p.user(t, "kim", model.RoleAdmin)
	for what, do := range map[string]func() error{
		"disabled": func() error { _, err := p.Users.Disable(t.Context(), clerk, kim.ID); return err },
		"demoted":  func() error { _, err := p.Users.SetRole(t.Context(), clerk, kim.ID, model.RoleStaff); return err },
	} {
		kind(t, what, do(), errs.Conflict)
		// One who has no password yet does not count.
		_, other, err := p.Users.Create(t.Context(), clerk, model.UserDraft{Name: what, Role: model.RoleAdmin})
		if err != nil {
			t.Fatal(err)
		}
		kind(t, what+", another invited", do(), errs.Conflict)
		if _, err := p.Users.Disable(t.Context(), clerk, other.ID); err != nil {
			t.Error(err)
		}
	}
	lee := p.user(t, "lee", model.RoleAdmin)
	actor := p.actor(t, "kim")
	if _, err := p.Users.SetRole(t.Context(), actor, kim.ID, model.RoleViewer); err != nil {
		t.Error(err)
	}
	_, err := p.Users.Disable(t.Context(), actor, lee.ID)
	kind(t, "by one who is no administrator any more", err, errs.Forbidden)
	_, err = p.Users.Disable(t.Context(), clerk, lee.ID)
	kind(t, "now the last", err, errs.Conflict)
}

// Two administrators who disable each other at the same time: one stays.
func TestAdministratorsAtOnce(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	one, other := p.user(t, "one", model.RoleAdmin), p.user(t, "other", model.RoleAdmin)
	done := make(chan error)
	for _, id := range []uint64{one.ID, other.ID} {
		go func() { _, err := p.Users.Disable(t.Context(), clerk, id); done <- err }()
	}
	if a, b := <-done, <-done; (a == nil) == (b == nil) {
		t.Errorf("%v, %v", a, b)
	}
}

func TestWhoMayAdminister(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "admin", model.RoleAdmin)
	p.user(t, "staff", model.RoleStaff)
	target := p.user(t, "viewer", model.RoleViewer)
	_, key := makeKey(t, p.Instance, model.KeyDraft{})
	for who, row := range map[string]struct {
		actor model.Actor
		want  errs.Kind
	}{
		"staff":      {p.actor(t, "staff"), errs.Forbidden},
		"viewer":     {p.actor(t, "viewer"), errs.Forbidden},
		"key":        {model.Actor{Kind: model.ActorKey, ID: key.ID}, errs.Forbidden},
		"no session": {model.Actor{Kind: model.ActorUser, ID: 1, Role: model.RoleAdmin}, errs.Unauthenticated},
		"another's":  {model.Actor{Kind: model.ActorUser, ID: 1, Session: p.actor(t, "staff").Session}, errs.Unauthenticated},
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
			kind(t, who+" "+what, do(), row.want)
		}
	}
	if _, err := p.Users.Rename(t.Context(), p.actor(t, "admin"), target.ID, "renamed"); err != nil {
		t.Error(err)
	}
	p.actor(t, "RENAMED")
	_, err := p.Users.Rename(t.Context(), clerk, target.ID, "Staff")
	kind(t, "taken name", err, errs.Invalid)
	_, err = p.Users.Rename(t.Context(), clerk, 99, "x")
	kind(t, "unknown user", err, errs.NotFound)
}

// A write is judged in its transaction: a role, a user or a session that ended while
// documents arrived stops it.
func TestWritesAreLookedAtOnceMore(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	admin := p.user(t, "admin", model.RoleAdmin)
	kim := p.user(t, "kim", model.RoleStaff)
	order := func(actor model.Actor) error {
		_, err := p.Orders.Create(t.Context(), actor, model.OrderDraft{Number: model.StringInput("2026-1")}, vault.Idempotency[model.Order]{})
		return err
	}
	actor := p.actor(t, "kim")
	if err := order(actor); err != nil {
		t.Fatal(err)
	}
	must := func(_ model.User, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Users.SetRole(t.Context(), clerk, kim.ID, model.RoleViewer))
	kind(t, "as a viewer", order(actor), errs.Forbidden)
	must(p.Users.SetRole(t.Context(), clerk, kim.ID, model.RoleAdmin))
	if err := order(actor); err != nil {
		t.Error(err)
	}
	must(p.Users.Disable(t.Context(), clerk, kim.ID))
	kind(t, "disabled", order(actor), errs.Unauthenticated)
	must(p.Users.Enable(t.Context(), clerk, kim.ID))
	kind(t, "enabled again, the session is gone", order(actor), errs.Unauthenticated)
	in := p.signIn(t, "kim")
	actor = p.speaks(t, in.Token)
	if err := p.Sessions.SignOut(t.Context(), in.Token, ""); err != nil {
		t.Fatal(err)
	}
	kind(t, "signed out", order(actor), errs.Unauthenticated)
	actor = p.actor(t, "kim")
	p.clock.Advance(12 * time.Hour)
	kind(t, "idle", order(actor), errs.Unauthenticated)
	actor = p.actor(t, "kim")
	actor.ID = admin.ID
	kind(t, "under another's number", order(actor), errs.Unauthenticated)
}

func TestReset(t *testing.T) {
	t.Parallel()
	p := peopled(t, nil)
	p.user(t, "admin", model.RoleAdmin)
	kim := p.user(t, "kim", model.RoleStaff)
	in := p.signIn(t, "kim")
	p.factor(t, p.speaks(t, in.Token))
	token, user, err := p.Users.Reset(t.Context(), clerk, kim.ID)
	if err != nil || user.TwoFactor != nil || user.Password != "" {
		t.Fatalf("%+v, %v", user, err)
	}
	p.silent(t, "after a reset", in.Token)
	_, err = p.try(t, "kim", goodPassword, "", "192.0.2.1")
	refused(t, "the old password", err, auth.WrongPassword)
	if in, err := p.Users.Invitation(t.Context(), token); err != nil || !in.Reset {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: goodPassword + "!"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.try(t, "kim", goodPassword+"!", "", "192.0.2.1"); err != nil {
		t.Error(err)
	}
}

// stored is how many sessions the database holds.
func (p *people) stored(t *testing.T) (n int) {
	t.Helper()
	err := p.Store.View(t.Context(), func(tx *store.Tx) error {
		tx.EachSession(func(model.Session) bool { n++; return true })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
