package auth_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/backup"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestUserCreate(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	token, user, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: " Kim Lee ", Role: model.RoleStaff})
	if err != nil || len(token) != 43 || user.Name != "Kim Lee" || user.ID != 1 || user.CanSignIn() ||
		!user.PasswordLink.Active(p.Clock.Now()) {
		t.Fatalf("Create() = %q, %+v, %v; want user 1, Kim Lee, with an active link and a token of 43 bytes", token, user, err)
	}
	short := "too short"
	for _, tt := range []struct {
		name  string
		draft model.UserDraft
		field string
	}{
		{"name in use", model.UserDraft{Name: "KIM lee", Role: model.RoleAdmin}, "name"},
		{"blank name", model.UserDraft{Name: " ", Role: model.RoleAdmin}, "name"},
		{"no role", model.UserDraft{Name: "x"}, "role"},
		{"unknown role", model.UserDraft{Name: "x", Role: "owner"}, "role"},
		{"short password", model.UserDraft{Name: "x", Role: model.RoleAdmin, Password: &short}, "password"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := p.Users.Create(t.Context(), vaulttest.Operator, tt.draft)
			got, ok := errors.AsType[*errs.Error](err)
			if !ok || got.Kind != errs.Invalid || got.Fields[0].Field != tt.field {
				t.Errorf("Create(%+v): got %v, want field %q to be invalid", tt.draft, err, tt.field)
			}
		})
	}
	if list, err := p.Users.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("List() = %v, %v; want one user", list, err)
	}
}

// A user has a full name and a title, which only administrators change. The audit log has both values.
func TestProfile(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	text := func(s string) *string { return &s }
	_, kim, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: "kim", Role: model.RoleStaff,
		Profile: model.ProfilePatch{FullName: text(" Kim Lee ")}})
	if want := (model.Profile{FullName: "Kim Lee"}); err != nil || kim.Profile != want {
		t.Fatalf("Create: got %+v, %v, want %+v", kim.Profile, err, want)
	}
	mary := p.CreateUser(t, "mary", model.RoleStaff)
	_, err = p.Users.SetProfile(t.Context(), vaulttest.Operator, mary.ID,
		model.ProfilePatch{FullName: text("Mary Jones"), Title: text("Senior Examiner")})
	vaulttest.NoError(t, err)
	for _, id := range []uint64{kim.ID, mary.ID} {
		_, err := p.Users.SetProfile(t.Context(), p.Actor(t, "mary"), id, model.ProfilePatch{Title: text("x")})
		vaulttest.WantKind(t, "SetProfile by staff", err, errs.Forbidden)
	}
	after, err := p.Users.SetProfile(t.Context(), vaulttest.Operator, mary.ID, model.ProfilePatch{Title: text("")})
	if err != nil || after.Profile.String() != "Mary Jones" {
		t.Errorf("SetProfile: got %q, %v, want the full name alone", after.Profile, err)
	}
	for field, patch := range map[string]model.ProfilePatch{"full_name": {FullName: text(strings.Repeat("x", 256))}, "title": {Title: text("a\nb")}} {
		_, err := p.Users.SetProfile(t.Context(), vaulttest.Operator, mary.ID, patch)
		if got, ok := errors.AsType[*errs.Error](err); !ok || got.Kind != errs.Invalid || got.Fields[0].Field != field {
			t.Errorf("SetProfile(%s): got %v, want it to be invalid", field, err)
		}
	}
	var got []string
	for _, e := range p.AuditEvents(t) {
		for _, c := range e.Changes {
			got = append(got, fmt.Sprintf("%s %s %s>%s", e.Kind, c.Field, c.From, c.To))
		}
	}
	if want := []string{`user.created full_name null>"Kim Lee"`, `user.profile_changed full_name null>"Mary Jones"`,
		`user.profile_changed title null>"Senior Examiner"`, `user.profile_changed title "Senior Examiner">null`}; !slices.Equal(got, want) {
		t.Errorf("changes in the audit log = %q, want %q", got, want)
	}
}

func TestLastAdministratorCannotBeRemoved(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	for name, remove := range map[string]func() error{
		"disable": func() error { _, err := p.Users.Disable(t.Context(), vaulttest.Operator, kim.ID); return err },
		"demote": func() error {
			_, err := p.Users.SetRole(t.Context(), vaulttest.Operator, kim.ID, model.RoleStaff)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			vaulttest.WantKind(t, "only administrator", remove(), errs.Conflict)
			// An administrator without a password doesn't count.
			_, other, err := p.Users.Create(t.Context(), vaulttest.Operator, model.UserDraft{Name: name, Role: model.RoleAdmin})
			if err != nil {
				t.Fatalf("create user: %v", err)
			}
			vaulttest.WantKind(t, "with another administrator invited", remove(), errs.Conflict)
			if _, err := p.Users.Disable(t.Context(), vaulttest.Operator, other.ID); err != nil {
				t.Errorf("disable the invited administrator: %v", err)
			}
		})
	}
	lee := p.CreateUser(t, "lee", model.RoleAdmin)
	actor := p.Actor(t, "kim")
	if _, err := p.Users.SetRole(t.Context(), actor, kim.ID, model.RoleViewer); err != nil {
		t.Errorf("demote one of two administrators: %v", err)
	}
	_, err := p.Users.Disable(t.Context(), actor, lee.ID)
	vaulttest.WantKind(t, "disable as a former administrator", err, errs.Forbidden)
	_, err = p.Users.Disable(t.Context(), vaulttest.Operator, lee.ID)
	vaulttest.WantKind(t, "disable the last administrator", err, errs.Conflict)
}

// If the only two administrators are disabled at the same time, one of them stays
// enabled.
func TestLastAdministratorConcurrentDisable(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim, lee := p.CreateUser(t, "kim", model.RoleAdmin), p.CreateUser(t, "lee", model.RoleAdmin)
	done := make(chan error)
	for _, id := range []uint64{kim.ID, lee.ID} {
		go func() { _, err := p.Users.Disable(t.Context(), vaulttest.Operator, id); done <- err }()
	}
	if err1, err2 := <-done, <-done; (err1 == nil) == (err2 == nil) {
		t.Errorf("concurrent Disable(): got %v and %v, want one success", err1, err2)
	}
}

func TestAdministratorOperations(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	p.CreateUser(t, "staff", model.RoleStaff)
	target := p.CreateUser(t, "viewer", model.RoleViewer)
	_, key := vaulttest.CreateKey(t, p.Instance, model.KeyDraft{})
	for name, tt := range map[string]struct {
		actor model.Actor
		want  errs.Kind
	}{
		"staff":                  {p.Actor(t, "staff"), errs.Forbidden},
		"viewer":                 {p.Actor(t, "viewer"), errs.Forbidden},
		"key":                    {model.Actor{Kind: model.ActorKey, ID: key.ID}, errs.Forbidden},
		"no session":             {model.Actor{Kind: model.ActorUser, ID: 1, Role: model.RoleAdmin}, errs.Unauthenticated},
		"another user's session": {model.Actor{Kind: model.ActorUser, ID: 1, Session: p.Actor(t, "staff").Session}, errs.Unauthenticated},
	} {
		for operation, run := range administratorOperations(t, p, tt.actor, target.ID, key.ID) {
			t.Run(name+"/"+operation, func(t *testing.T) {
				vaulttest.WantKind(t, operation, run(), tt.want)
			})
		}
	}
	if _, err := p.Users.Rename(t.Context(), p.Actor(t, "admin"), target.ID, "renamed"); err != nil {
		t.Errorf("rename as an administrator: %v", err)
	}
	p.Actor(t, "RENAMED")
	_, err := p.Users.Rename(t.Context(), vaulttest.Operator, target.ID, "Staff")
	vaulttest.WantKind(t, "name in use", err, errs.Invalid)
	_, err = p.Users.Rename(t.Context(), vaulttest.Operator, 99, "x")
	vaulttest.WantKind(t, "unknown user", err, errs.NotFound)
}

// administratorOperations returns calls, made as actor, of the operations that only
// administrators may use.
func administratorOperations(t *testing.T, p *vaulttest.UserFixture, actor model.Actor, user, key uint64) map[string]func() error {
	return map[string]func() error{
		"create user": func() error {
			_, _, err := p.Users.Create(t.Context(), actor, model.UserDraft{Name: "new", Role: model.RoleAdmin})
			return err
		},
		"set role": func() error {
			_, err := p.Users.SetRole(t.Context(), actor, user, model.RoleAdmin)
			return err
		},
		"create key": func() error {
			_, _, err := p.Keys.Create(t.Context(), actor, model.KeyDraft{Name: "mine"})
			return err
		},
		"revoke key": func() error { _, err := p.Keys.Revoke(t.Context(), actor, key); return err },
		"rotate key": func() error {
			_, _, err := p.Keys.Rotate(t.Context(), actor, key, 0)
			return err
		},
		"rename user":                     func() error { _, err := p.Users.Rename(t.Context(), actor, user, "new"); return err },
		"disable user":                    func() error { _, err := p.Users.Disable(t.Context(), actor, user); return err },
		"enable user":                     func() error { _, err := p.Users.Enable(t.Context(), actor, user); return err },
		"reset user":                      func() error { _, _, err := p.Users.Reset(t.Context(), actor, user); return err },
		"reset two-factor authentication": func() error { _, err := p.Users.ResetTwoFactor(t.Context(), actor, user); return err },
		"import templates": func() error {
			_, err := p.Templates.Import(t.Context(), actor, []model.TemplateDraft{{Name: "new"}}, false)
			return err
		},
		"import templates, dry run": func() error {
			_, err := p.Templates.Import(t.Context(), actor, nil, true)
			return err
		},
		"set default template": func() error { _, err := p.Templates.SetDefault(t.Context(), actor, 2); return err },
		"retire template":      func() error { _, err := p.Templates.Retire(t.Context(), actor, 2); return err },
		"import fields": func() error {
			_, err := p.Orders.EditFields(t.Context(), actor, []model.Field{{Key: "x", Label: "X", Type: "text"}}, "", false)
			return err
		},
		"import statuses": func() error {
			_, err := p.Orders.EditStatuses(t.Context(), actor, []string{"one"}, "", false)
			return err
		},
		"repair": func() error { _, err := p.Integrity.Repair(t.Context(), actor, func(int, int) {}); return err },
		"backup": func() error {
			_, err := p.Backups.Create(t.Context(), actor, filepath.Join(t.TempDir(), "b"), func(backup.Progress) {})
			return err
		},
	}
}

// Permissions are checked again inside the write transaction, because the role, user, or
// session may change while documents are being uploaded.
func TestWriteChecksPermissionsAgain(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	admin := p.CreateUser(t, "admin", model.RoleAdmin)
	kim := p.CreateUser(t, "kim", model.RoleStaff)
	createOrder := func(actor model.Actor) error {
		draft := model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("2026-1")}}
		_, err := p.Orders.Create(t.Context(), actor, draft, vault.Idempotency[model.Order]{})
		return err
	}
	actor := p.Actor(t, "kim")
	if err := createOrder(actor); err != nil {
		t.Fatalf("create an order as staff: %v", err)
	}
	must := func(_ model.User, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("change user: %v", err)
		}
	}
	must(p.Users.SetRole(t.Context(), vaulttest.Operator, kim.ID, model.RoleViewer))
	vaulttest.WantKind(t, "viewer", createOrder(actor), errs.Forbidden)
	must(p.Users.SetRole(t.Context(), vaulttest.Operator, kim.ID, model.RoleAdmin))
	if err := createOrder(actor); err != nil {
		t.Errorf("create an order as an administrator: %v", err)
	}
	must(p.Users.Disable(t.Context(), vaulttest.Operator, kim.ID))
	vaulttest.WantKind(t, "disabled user", createOrder(actor), errs.Unauthenticated)
	must(p.Users.Enable(t.Context(), vaulttest.Operator, kim.ID))
	vaulttest.WantKind(t, "session from before the user was disabled", createOrder(actor), errs.Unauthenticated)
	in := p.SignIn(t, "kim")
	actor = p.Authenticate(t, in.Token)
	if err := p.Sessions.SignOut(t.Context(), in.Token, ""); err != nil {
		t.Fatalf("sign out: %v", err)
	}
	vaulttest.WantKind(t, "signed out", createOrder(actor), errs.Unauthenticated)
	actor = p.Actor(t, "kim")
	p.Clock.Advance(12 * time.Hour)
	vaulttest.WantKind(t, "idle session", createOrder(actor), errs.Unauthenticated)
	actor = p.Actor(t, "kim")
	actor.ID = admin.ID
	vaulttest.WantKind(t, "session of another user", createOrder(actor), errs.Unauthenticated)
}

func TestUserReset(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	p.CreateUser(t, "admin", model.RoleAdmin)
	kim := p.CreateUser(t, "kim", model.RoleStaff)
	in := p.SignIn(t, "kim")
	p.EnableTwoFactor(t, p.Authenticate(t, in.Token))
	token, user, err := p.Users.Reset(t.Context(), vaulttest.Operator, kim.ID)
	if err != nil || user.TwoFactor != nil || user.Password != "" {
		t.Fatalf("Reset(%d) = %+v, %v; want no password and no two-factor authentication", kim.ID, user, err)
	}
	p.WantSignedOut(t, "session after a reset", in.Token)
	_, err = p.TrySignIn(t, "kim", vaulttest.GoodPassword, "", "192.0.2.1")
	vaulttest.WantSignInError(t, "old password", err, auth.WrongPassword)
	if in, err := p.Users.Invitation(t.Context(), token); err != nil || !in.Reset {
		t.Errorf("Invitation() = %+v, %v; want a reset link", in, err)
	}
	if _, err := p.Users.Accept(t.Context(), token, auth.AcceptDraft{Password: vaulttest.GoodPassword + "!"}); err != nil {
		t.Fatalf("accept reset link: %v", err)
	}
	if _, err := p.TrySignIn(t, "kim", vaulttest.GoodPassword+"!", "", "192.0.2.1"); err != nil {
		t.Errorf("sign in with the new password: %v", err)
	}
}

// Users say themselves until when they are away. Only administrators do it for others.
func TestSetAway(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim, lee := p.CreateUser(t, "kim", model.RoleViewer), p.CreateUser(t, "lee", model.RoleStaff)
	actor := p.Actor(t, "kim")
	set := func(id uint64, until, today string) (model.User, error) {
		return p.Users.SetAway(t.Context(), actor, id, model.StringInput(until), today)
	}
	for range 2 {
		after, err := set(kim.ID, "2026-12-05", "2026-12-04")
		if err != nil || !after.IsAway("2026-12-04") || after.IsAway("2026-12-05") {
			t.Errorf("SetAway = %+v, %v; want to be away until Dec 5", after, err)
		}
	}
	for _, until := range []string{"2026-12-04", "2026-11-01", "soon"} {
		_, err := set(kim.ID, until, "2026-12-04")
		vaulttest.WantKind(t, "away until "+until, err, errs.Invalid)
	}
	_, err := set(lee.ID, "2026-12-05", "2026-12-04")
	vaulttest.WantKind(t, "SetAway for someone else", err, errs.Forbidden)
	after, err := set(kim.ID, "", "2026-12-04")
	if err != nil || after.AwayUntil != "" {
		t.Errorf("SetAway = %+v, %v; want not to be away", after, err)
	}
}

// Each change to a user adds one audit entry. A call that changes nothing adds none.
func TestUserAuditEntries(t *testing.T) {
	t.Parallel()
	p := vaulttest.NewUserFixture(t, nil)
	kim := p.CreateUser(t, "kim", model.RoleAdmin)
	p.CreateUser(t, "lee", model.RoleAdmin)
	actor := p.Actor(t, "lee")
	must := func(_ model.User, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("change user: %v", err)
		}
	}
	for range 2 {
		must(p.Users.Rename(t.Context(), actor, kim.ID, "kim b"))
	}
	name, title := "Kim Lee", "Examiner"
	for range 2 {
		must(p.Users.SetProfile(t.Context(), actor, kim.ID, model.ProfilePatch{FullName: &name, Title: &title}))
	}
	for range 2 {
		must(p.Users.SetAway(t.Context(), actor, kim.ID, model.StringInput("2026-12-05"), "2026-12-01"))
	}
	for range 2 {
		must(p.Users.SetRole(t.Context(), actor, kim.ID, model.RoleStaff))
	}
	for range 2 {
		must(p.Users.Disable(t.Context(), actor, kim.ID))
	}
	for range 2 {
		must(p.Users.Enable(t.Context(), actor, kim.ID))
	}
	if err := p.Users.ChangePassword(t.Context(), actor, vaulttest.GoodPassword, "another good one of mine"); err != nil {
		t.Fatalf("change password: %v", err)
	}
	if err := p.Sessions.EndAll(t.Context(), actor); err != nil {
		t.Fatalf("end all sessions: %v", err)
	}
	var got []string
	for _, e := range p.AuditEvents(t) {
		got = append(got, fmt.Sprintf("%s %s by %s", e.Kind, e.Record, e.Actor.Record()))
	}
	want := []string{
		"vault.created  by system", "user.created user:1 by operator:7", "user.created user:2 by operator:7",
		"session.started user:2 by user:2", "user.renamed user:1 by user:2", "user.profile_changed user:1 by user:2",
		"user.away_changed user:1 by user:2", "user.role_changed user:1 by user:2",
		"user.disabled user:1 by user:2", "user.enabled user:1 by user:2",
		"user.password_changed user:2 by user:2", "session.ended user:2 by user:2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("audit entries = %q, want %q", got, want)
	}
	if user, err := p.Users.Get(t.Context(), kim.ID); err != nil || user.Version != 7 {
		t.Errorf("Get(%d) = %+v, %v; want version 7", kim.ID, user, err)
	}
}
